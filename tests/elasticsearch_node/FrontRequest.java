package winnow;

import com.sun.net.httpserver.HttpExchange;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.common.bytes.BytesReference;
import org.elasticsearch.common.bytes.ReleasableBytesReference;
import org.elasticsearch.http.HttpBody;
import org.elasticsearch.http.HttpChannel;
import org.elasticsearch.http.HttpRequest;
import org.elasticsearch.http.HttpResponse;
import org.elasticsearch.rest.ChunkedRestResponseBodyPart;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestStatus;

/** A request as the node reads it, and the channel that it came by. Answers do not go this way. */
record FrontRequest(HttpExchange exchange, ReleasableBytesReference content) implements HttpRequest, HttpChannel {
    @Override
    public RestRequest.Method method() {
        try {
            return RestRequest.Method.valueOf(exchange.getRequestMethod());
        } catch (IllegalArgumentException error) {
            throw new IllegalArgumentException("unexpected method " + exchange.getRequestMethod());
        }
    }

    @Override
    public String uri() {
        return exchange.getRequestURI().toString();
    }

    @Override
    public Map<String, List<String>> getHeaders() {
        return exchange.getRequestHeaders();
    }

    @Override
    public HttpBody body() {
        return HttpBody.fromBytesReference(content);
    }

    // Elasticsearch 9 has this method and the next.
    public boolean hasContent() {
        return content.length() > 0;
    }

    public void setBody(HttpBody body) {
        throw new UnsupportedOperationException();
    }

    @Override
    public List<String> strictCookies() {
        return List.of();
    }

    @Override
    public HttpVersion protocolVersion() {
        return HttpVersion.HTTP_1_1;
    }

    @Override
    public HttpRequest removeHeader(String header) {
        return this;
    }

    @Override
    public HttpResponse createResponse(RestStatus status, BytesReference content) {
        throw new UnsupportedOperationException();
    }

    @Override
    public HttpResponse createResponse(RestStatus status, ChunkedRestResponseBodyPart firstPart) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Exception getInboundException() {
        return null;
    }

    @Override
    public void release() {}

    @Override
    public void sendResponse(HttpResponse response, ActionListener<Void> listener) {
        throw new UnsupportedOperationException();
    }

    @Override
    public InetSocketAddress getLocalAddress() {
        return exchange.getLocalAddress();
    }

    @Override
    public InetSocketAddress getRemoteAddress() {
        return exchange.getRemoteAddress();
    }

    @Override
    public void close() {}

    @Override
    public void addCloseListener(ActionListener<Void> listener) {}

    @Override
    public boolean isOpen() {
        return true;
    }
}
