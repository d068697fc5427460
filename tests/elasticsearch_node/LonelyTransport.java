package winnow;

import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.common.component.AbstractLifecycleComponent;
import org.elasticsearch.common.transport.BoundTransportAddress;
import org.elasticsearch.common.transport.TransportAddress;
import org.elasticsearch.transport.ConnectTransportException;
import org.elasticsearch.transport.ConnectionProfile;
import org.elasticsearch.transport.Transport;
import org.elasticsearch.transport.TransportMessageListener;
import org.elasticsearch.transport.TransportStats;

/** The transport of a node that is alone: it binds no port and reaches nobody. A node calls itself without it. */
class LonelyTransport extends AbstractLifecycleComponent implements Transport {
    private static final TransportAddress ADDRESS = new TransportAddress(InetAddress.getLoopbackAddress(), 9300);

    private final ResponseHandlers responseHandlers = new ResponseHandlers();
    private final RequestHandlers requestHandlers = new RequestHandlers();

    @Override
    public void setMessageListener(TransportMessageListener listener) {}

    @Override
    public BoundTransportAddress boundAddress() {
        return new BoundTransportAddress(new TransportAddress[] { ADDRESS }, ADDRESS);
    }

    @Override
    public BoundTransportAddress boundRemoteIngressAddress() {
        return null;
    }

    @Override
    public Map<String, BoundTransportAddress> profileBoundAddresses() {
        return Map.of();
    }

    @Override
    public TransportAddress[] addressesFromString(String address) {
        return new TransportAddress[0];
    }

    @Override
    public List<String> getDefaultSeedAddresses() {
        return List.of();
    }

    @Override
    public void openConnection(DiscoveryNode node, ConnectionProfile profile, ActionListener<Connection> listener) {
        listener.onFailure(new ConnectTransportException(node, "this node is alone"));
    }

    @Override
    public TransportStats getStats() {
        long[] none = new long[0];
        return new TransportStats(0, 0, 0, 0, 0, 0, none, none, Map.of());
    }

    @Override
    public ResponseHandlers getResponseHandlers() {
        return responseHandlers;
    }

    @Override
    public RequestHandlers getRequestHandlers() {
        return requestHandlers;
    }

    @Override
    protected void doStart() {}

    @Override
    protected void doStop() {}

    @Override
    protected void doClose() {}
}
