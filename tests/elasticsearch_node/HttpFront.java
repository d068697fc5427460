package winnow;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BiConsumer;
import java.util.zip.GZIPInputStream;
import org.elasticsearch.Build;
import org.elasticsearch.action.support.PlainActionFuture;
import org.elasticsearch.common.bytes.BytesArray;
import org.elasticsearch.common.bytes.ReleasableBytesReference;
import org.elasticsearch.common.component.AbstractLifecycleComponent;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.transport.BoundTransportAddress;
import org.elasticsearch.common.transport.TransportAddress;
import org.elasticsearch.common.util.PageCacheRecycler;
import org.elasticsearch.common.util.concurrent.ThreadContext;
import org.elasticsearch.http.HttpInfo;
import org.elasticsearch.http.HttpPreRequest;
import org.elasticsearch.http.HttpServerTransport;
import org.elasticsearch.http.HttpStats;
import org.elasticsearch.rest.AbstractRestChannel;
import org.elasticsearch.rest.ChunkedRestResponseBodyPart;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.BytesRefRecycler;
import org.elasticsearch.xcontent.NamedXContentRegistry;
import org.elasticsearch.xcontent.XContentParserConfiguration;

/** Serves the REST API of a node with the HTTP server of the Java runtime. */
class HttpFront extends AbstractLifecycleComponent implements HttpServerTransport {
    private static final int CHUNK_BYTES = 1 << 16;

    private final int port;
    private final ThreadContext context;
    private final BytesRefRecycler recycler;
    private final XContentParserConfiguration parsing;
    private final Dispatcher dispatcher;
    private final BiConsumer<HttpPreRequest, ThreadContext> headers;
    private final ExecutorService handlers = Executors.newCachedThreadPool();
    private HttpServer server;

    HttpFront(
        Settings settings,
        ThreadPool threads,
        PageCacheRecycler recycler,
        NamedXContentRegistry names,
        Dispatcher dispatcher,
        BiConsumer<HttpPreRequest, ThreadContext> headers
    ) {
        this.port = settings.getAsInt("http.port", 0);
        this.context = threads.getThreadContext();
        this.recycler = new BytesRefRecycler(recycler);
        this.parsing = XContentParserConfiguration.EMPTY.withRegistry(names);
        this.dispatcher = dispatcher;
        this.headers = headers;
    }

    @Override
    protected void doStart() {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        System.setProperty("sun.net.httpserver.idleInterval", "3600"); // seconds; clients keep their connections
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        server.createContext("/", this::handle);
        server.setExecutor(handlers);
        server.start();
    }

    @Override
    protected void doStop() {
        server.stop(0);
        handlers.shutdownNow();
    }

    @Override
    protected void doClose() {}

    @Override
    public BoundTransportAddress boundAddress() {
        TransportAddress address = new TransportAddress(server.getAddress());
        return new BoundTransportAddress(new TransportAddress[] { address }, address);
    }

    @Override
    public HttpInfo info() {
        return new HttpInfo(boundAddress(), Integer.MAX_VALUE);
    }

    @Override
    public HttpStats stats() {
        return new HttpStats(0, 0);
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange; RestResponse response = answer(exchange)) {
            response.getHeaders().forEach((name, values) -> exchange.getResponseHeaders().put(name, values));
            exchange.getResponseHeaders().set("X-elastic-product", "Elasticsearch");
            exchange.getResponseHeaders().set("Content-Type", response.contentType());
            byte[] body = body(response);
            boolean empty = body.length == 0 || exchange.getRequestMethod().equals("HEAD");
            exchange.sendResponseHeaders(response.status().getStatus(), empty ? -1 : body.length);
            if (!empty) {
                exchange.getResponseBody().write(body);
            }
        }
    }

    private RestResponse answer(HttpExchange exchange) throws IOException {
        if (exchange.getRequestURI().getPath().equals("/")) { // the module rest-root, which is not published, answers it
            return new RestResponse(RestStatus.OK, "application/json", about());
        }
        FrontRequest http = new FrontRequest(exchange, content(exchange));
        CompletableFuture<RestResponse> answered = new CompletableFuture<>();
        try (ThreadContext.StoredContext ignored = context.stashContext()) {
            headers.accept(http, context);
            try {
                RestRequest request = RestRequest.request(parsing, http, http);
                dispatcher.dispatchRequest(request, channel(request, answered), context);
            } catch (RuntimeException error) { // parameters that cannot be parsed, or a wrong media type
                RestRequest request = RestRequest.requestWithoutParameters(parsing, http, http);
                dispatcher.dispatchBadRequest(channel(request, answered), context, error);
            }
        }
        return answered.join();
    }

    private static String about() {
        Build build = Build.current();
        return String.format(
            "{\"tagline\": \"You Know, for Search\", \"version\": {\"number\": \"%s\", \"build_flavor\": \"default\"}}",
            build.version()
        );
    }

    private static AbstractRestChannel channel(RestRequest request, CompletableFuture<RestResponse> answered) {
        return new AbstractRestChannel(request, true) {
            @Override
            public void sendResponse(RestResponse response) {
                answered.complete(response);
            }
        };
    }

    private static ReleasableBytesReference content(HttpExchange exchange) throws IOException {
        boolean zipped = "gzip".equalsIgnoreCase(exchange.getRequestHeaders().getFirst("Content-Encoding"));
        try (InputStream body = exchange.getRequestBody()) {
            InputStream content = zipped ? new GZIPInputStream(body) : body;
            return ReleasableBytesReference.wrap(new BytesArray(content.readAllBytes()));
        }
    }

    private byte[] body(RestResponse response) throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        if (!response.isChunked()) {
            response.content().writeTo(body);
            return body.toByteArray();
        }
        ChunkedRestResponseBodyPart part = response.chunkedContent();
        while (true) {
            while (!part.isPartComplete()) {
                try (ReleasableBytesReference chunk = part.encodeChunk(CHUNK_BYTES, recycler)) {
                    chunk.writeTo(body);
                }
            }
            if (part.isLastPart()) {
                return body.toByteArray();
            }
            PlainActionFuture<ChunkedRestResponseBodyPart> next = new PlainActionFuture<>();
            part.getNextPart(next);
            part = next.actionGet();
        }
    }
}
