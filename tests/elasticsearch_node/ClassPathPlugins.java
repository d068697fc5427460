package org.elasticsearch.plugins;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.elasticsearch.env.Environment;

/** The plugins of a node, made from classes instead of bundles in its folder. */
public class ClassPathPlugins extends PluginsService {
    private final List<LoadedPlugin> loaded = new ArrayList<>();

    public ClassPathPlugins(
        Environment environment, PluginsLoader loader, Collection<Class<? extends Plugin>> plugins
    ) {
        super(environment.settings(), environment.configDir(), loader);
        for (Class<? extends Plugin> each : plugins) {
            loaded.add(loadedPlugin(each));
        }
    }

    @Override
    protected List<LoadedPlugin> plugins() {
        return loaded == null ? List.of() : loaded; // null while the constructor of the class above runs
    }

    private static LoadedPlugin loadedPlugin(Class<? extends Plugin> type) {
        String name = type.getName();
        PluginDescriptor descriptor =
            new PluginDescriptor(name, "", "", "", "", name, null, List.of(), false, false, false, false);
        try {
            return new LoadedPlugin(descriptor, type.getConstructor().newInstance(), type.getClassLoader());
        } catch (ReflectiveOperationException error) {
            throw new IllegalArgumentException(error);
        }
    }
}
