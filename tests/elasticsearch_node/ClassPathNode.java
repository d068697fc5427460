package org.elasticsearch.node;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import org.elasticsearch.common.logging.LogConfigurator;
import org.elasticsearch.env.Environment;
import org.elasticsearch.plugins.ClassPathPlugins;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.plugins.PluginsLoader;
import org.elasticsearch.plugins.PluginsService;

/** A node whose plugins are on the class path. In this package because the constructors that it needs are. */
public class ClassPathNode extends Node {
    static {
        LogConfigurator.configureESLogging(); // before any class of the node makes a logger
    }

    public ClassPathNode(Environment environment, Collection<Class<? extends Plugin>> plugins) {
        super(NodeConstruction.prepareConstruction(environment, noBundles(), services(plugins), true));
    }

    private static PluginsLoader noBundles() {
        return PluginsLoader.createPluginsLoader(Set.of(), Set.of(), Map.of(), false);
    }

    private static NodeServiceProvider services(Collection<Class<? extends Plugin>> plugins) {
        return new NodeServiceProvider() {
            @Override
            PluginsService newPluginService(Environment environment, PluginsLoader loader) {
                return new ClassPathPlugins(environment, loader, plugins);
            }
        };
    }
}
