package winnow;

import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.elasticsearch.common.io.stream.NamedWriteableRegistry;
import org.elasticsearch.common.network.NetworkService;
import org.elasticsearch.common.settings.ClusterSettings;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.util.BigArrays;
import org.elasticsearch.common.util.PageCacheRecycler;
import org.elasticsearch.common.util.concurrent.ThreadContext;
import org.elasticsearch.http.HttpPreRequest;
import org.elasticsearch.http.HttpServerTransport;
import org.elasticsearch.indices.breaker.CircuitBreakerService;
import org.elasticsearch.plugins.NetworkPlugin;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.telemetry.TelemetryProvider;
import org.elasticsearch.telemetry.tracing.Tracer;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.Transport;
import org.elasticsearch.xcontent.NamedXContentRegistry;

/** Gives a node an HTTP server of its own, and no way to other nodes. */
public class FrontPlugin extends Plugin implements NetworkPlugin {
    @Override
    public Map<String, Supplier<Transport>> getTransports(
        Settings settings,
        ThreadPool threads,
        PageCacheRecycler recycler,
        CircuitBreakerService breakers,
        NamedWriteableRegistry writeables,
        NetworkService network
    ) {
        return Map.of("winnow", LonelyTransport::new);
    }

    /** As Elasticsearch 8 asks for it. */
    public Map<String, Supplier<HttpServerTransport>> getHttpTransports(
        Settings settings,
        ThreadPool threads,
        BigArrays arrays,
        PageCacheRecycler recycler,
        CircuitBreakerService breakers,
        NamedXContentRegistry names,
        NetworkService network,
        HttpServerTransport.Dispatcher dispatcher,
        BiConsumer<HttpPreRequest, ThreadContext> headers,
        ClusterSettings clusterSettings,
        Tracer tracer
    ) {
        return Map.of("winnow", () -> new HttpFront(settings, threads, recycler, names, dispatcher, headers));
    }

    /** As Elasticsearch 9 asks for it. */
    public Map<String, Supplier<HttpServerTransport>> getHttpTransports(
        Settings settings,
        ThreadPool threads,
        BigArrays arrays,
        PageCacheRecycler recycler,
        CircuitBreakerService breakers,
        NamedXContentRegistry names,
        NetworkService network,
        HttpServerTransport.Dispatcher dispatcher,
        BiConsumer<HttpPreRequest, ThreadContext> headers,
        ClusterSettings clusterSettings,
        TelemetryProvider telemetry
    ) {
        return Map.of("winnow", () -> new HttpFront(settings, threads, recycler, names, dispatcher, headers));
    }
}
