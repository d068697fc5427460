import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hc.core5.http.HttpHost;
import org.opensearch.client.json.JsonData;
import org.opensearch.client.json.jackson.JacksonJsonpMapper;
import org.opensearch.client.opensearch.OpenSearchClient;
import org.opensearch.client.opensearch._helpers.bulk.BulkIngester;
import org.opensearch.client.opensearch._helpers.bulk.BulkListener;
import org.opensearch.client.opensearch._types.FieldValue;
import org.opensearch.client.opensearch._types.OpenSearchException;
import org.opensearch.client.opensearch._types.SortOrder;
import org.opensearch.client.opensearch._types.query_dsl.Query;
import org.opensearch.client.opensearch.core.BulkRequest;
import org.opensearch.client.opensearch.core.BulkResponse;
import org.opensearch.client.opensearch.core.GetResponse;
import org.opensearch.client.opensearch.core.IndexResponse;
import org.opensearch.client.opensearch.core.SearchRequest;
import org.opensearch.client.opensearch.core.SearchResponse;
import org.opensearch.client.opensearch.core.UpdateRequest;
import org.opensearch.client.opensearch.core.UpdateResponse;
import org.opensearch.client.opensearch.core.search.Hit;
import org.opensearch.client.opensearch.generic.Requests;
import org.opensearch.client.opensearch.generic.Response;
import org.opensearch.client.transport.BackoffPolicy;
import org.opensearch.client.transport.OpenSearchTransport;
import org.opensearch.client.transport.httpclient5.ApacheHttpClient5TransportBuilder;
import org.opensearch.client.transport.httpclient5.ResponseException;

/**
 * Runs the steps of test_clients.py with the typed Java client, and prints what it got as one JSON object.
 *
 * <p>Arguments: URL INDEX ARTICLES [grouped]; with "load" instead of "grouped", it only loads the articles.
 */
@SuppressWarnings({"rawtypes", "unchecked"})
class Steps {
    static final ObjectMapper JSON = new ObjectMapper();

    final OpenSearchClient client;
    final String index;
    final List<Map<String, Object>> articles;

    Steps(OpenSearchClient client, String index, List<Map<String, Object>> articles) {
        this.client = client;
        this.index = index;
        this.articles = articles;
    }

    public static void main(String[] arguments) throws Exception {
        String mode = arguments.length > 3 ? arguments[3] : "";
        try (OpenSearchTransport transport =
                ApacheHttpClient5TransportBuilder.builder(HttpHost.create(arguments[0]))
                        .setMapper(new JacksonJsonpMapper())
                        .setCompressionEnabled(System.getenv("CLIENT_COMPRESSION") != null)
                        .build()) {
            List<Map<String, Object>> articles = JSON.readValue(new File(arguments[2]), List.class);
            Steps steps = new Steps(new OpenSearchClient(transport), arguments[1], articles);
            System.out.println(JSON.writeValueAsString(mode.equals("load") ? steps.load() : steps.all(mode.equals("grouped"))));
        }
    }

    Map<String, Object> source(int number) {
        return (Map<String, Object>) articles.get(number).get("source");
    }

    static Map<String, Object> with(Map<String, Object> source, String name, Object value) {
        Map<String, Object> changed = new LinkedHashMap<>(source);
        changed.put(name, value);
        return changed;
    }

    /** Return the status and the type of the error that a request ends with. */
    static List<Object> refusal(Callable<?> request) throws Exception {
        try {
            request.call();
            return List.of(200, "no error");
        } catch (OpenSearchException error) {
            return List.of(error.status(), error.error().type());
        } catch (ResponseException error) { // of create; its message ends with the body
            String body = error.getMessage().substring(error.getMessage().indexOf('\n'));
            return List.of(error.status(), JSON.readTree(body).at("/error/type").asText());
        }
    }

    Map<String, Object> all(boolean grouped) throws Exception {
        Map<String, Object> got = new LinkedHashMap<>();
        got.put("bulk", bulk());
        got.put("index", index());
        got.put("update", update());
        String deleted = client.delete(d -> d.index(index).id("8")).result().jsonValue();
        String gone = client.delete(d -> d.index(index).id("8")).result().jsonValue();
        got.put("delete", List.of(deleted, List.of(404, gone))); // the typed client does not tell the status
        GetResponse<Map> stored = client.get(g -> g.index(index).id("6"), Map.class);
        boolean found = client.get(g -> g.index(index).id("8"), Map.class).found();
        got.put("get", List.of(stored.version(), stored.source(), List.of(404, found ? "found" : "not found")));
        got.put("exists", List.of(exists("6"), exists("8")));
        client.indices().refresh(r -> r.index(index));
        got.put("search", search());
        got.put("errors", errors());
        if (grouped) got.put("grouped", grouped());
        return got;
    }

    boolean exists(String id) throws Exception {
        return client.exists(e -> e.index(index).id(id)).value();
    }

    List<Object> bulk() throws Exception {
        BulkRequest.Builder bulk = new BulkRequest.Builder();
        for (Map<String, Object> article : articles) {
            String id = (String) article.get("id");
            bulk.operations(o -> o.index(i -> i.index(index).id(id).document(article.get("source"))));
        }
        bulk.operations(o -> o.create(c -> c.index(index).id((String) articles.get(0).get("id")).document(source(0))));
        bulk.operations(o -> o.delete(d -> d.index(index).id("none")));
        BulkResponse response = client.bulk(bulk.build());
        return List.of(response.errors(), response.items().stream().map(item -> item.status()).toList());
    }

    List<Object> index() throws Exception {
        Map<String, Object> changed = with(source(3), "author", "bo");
        IndexResponse first = client.index(i -> i.index(index).id("new/1 ä").document(changed));
        Map<String, Object> again = with(changed, "body", source(4).get("body"));
        IndexResponse second = client.index(i -> i.index(index).id("new/1 ä").document(again));
        IndexResponse unnamed = client.index(i -> i.index(index).document(Map.of("headline", "Unnamed")));
        List<Object> got = new ArrayList<>();
        for (IndexResponse response : List.of(first, second, unnamed)) {
            got.add(response.result().jsonValue());
            got.add(response.version());
        }
        return got;
    }

    List<Object> update() throws Exception {
        Map<String, Object> doc = Map.of("body", source(5).get("body"));
        List<UpdateRequest.Builder<Map, Map>> requests = new ArrayList<>();
        requests.add(new UpdateRequest.Builder<Map, Map>().id("6").doc(doc));
        requests.add(new UpdateRequest.Builder<Map, Map>().id("6").doc(doc));
        requests.add(new UpdateRequest.Builder<Map, Map>().id("up").doc(Map.of("author", "cy")).upsert(source(6)));
        requests.add(
                new UpdateRequest.Builder<Map, Map>()
                        .id("7")
                        .script(s -> s.inline(i -> i.source("ctx._source.author = params.name").params("name", JsonData.of("eve")))));
        List<Object> got = new ArrayList<>();
        for (UpdateRequest.Builder<Map, Map> request : requests) {
            UpdateResponse<Map> response = client.update(request.index(index).build(), Map.class);
            got.add(List.of(response.result().jsonValue(), response.version()));
        }
        return got;
    }

    SearchRequest.Builder request(int from, int size) {
        Query author = Query.of(q -> q.term(t -> t.field("author").value(FieldValue.of("ada"))));
        Query end = Query.of(q -> q.matchPhrase(m -> m.field("body").query("The end of edition")));
        return new SearchRequest.Builder()
                .index(index)
                .from(from)
                .size(size)
                .query(q -> q.bool(b -> b.filter(author).should(end)))
                .sort(s -> s.field(f -> f.field("number").order(SortOrder.Asc)));
    }

    List<Object> search() throws Exception {
        SearchRequest request = request(0, 4).highlight(h -> h.fields("body", f -> f.numberOfFragments(1))).build();
        SearchResponse<Map> found = client.search(request, Map.class);
        List<Object> hits = new ArrayList<>();
        for (Hit<Map> hit : found.hits().hits()) {
            hits.add(List.of(hit.id(), hit.highlight().getOrDefault("body", List.of()).size()));
        }
        return List.of(found.hits().total().value(), hits);
    }

    List<Object> errors() throws Exception {
        Map<String, Object> again = Map.of("headline", "Again");
        return List.of(
                refusal(() -> client.search(s -> s.index("no-such-index"), Map.class)),
                refusal(() -> client.search(s -> s.index(index).query(q -> q.queryString(w -> w.query("((("))), Map.class)),
                refusal(() -> client.create(c -> c.index(index).id("6").document(again))),
                refusal(() -> client.index(i -> i.index(index).id("strict").document(Map.of("unknown_field", 1)))),
                refusal(() -> client.index(i -> i.index(index).id("6").ifSeqNo(99999L).ifPrimaryTerm(1L).document(again))));
    }

    /**
     * Group with `ext` in the body: this client sends no parameter that it does not know, not even one of its
     * TransportOptions. Its typed answer has no `ext`: the generic client reads the number of groups.
     */
    List<Object> grouped() throws Exception {
        List<Object> pages = new ArrayList<>();
        for (int from = 0; from < 8; from += 2) {
            SearchRequest request = request(from, 2).ext("winnow", JsonData.of(Map.of("group", true))).build();
            SearchResponse<Map> page = client.search(request, Map.class);
            pages.add(List.of(page.hits().total().value(), groups(request(from, 2).build()), hits(page)));
        }
        return pages;
    }

    static List<Object> hits(SearchResponse<Map> page) {
        List<Object> hits = new ArrayList<>();
        for (Hit<Map> hit : page.hits().hits()) {
            List<String> members = new ArrayList<>();
            if (hit.innerHits().containsKey("winnow")) {
                hit.innerHits().get("winnow").hits().hits().forEach(member -> members.add(member.id()));
            }
            hits.add(List.of(hit.id(), members.stream().sorted().toList()));
        }
        return hits;
    }

    long groups(SearchRequest request) throws Exception {
        var grouped =
                Requests.builder()
                        .method("POST")
                        .endpoint("/" + index + "/_search")
                        .query(Map.of("winnow", "group"))
                        .json(request.toJsonString())
                        .build();
        try (Response response = client.generic().execute(grouped)) {
            JsonNode answer = JSON.readTree(response.getBody().orElseThrow().bodyAsBytes());
            return answer.at("/ext/winnow/groups/value").longValue();
        }
    }

    /** Load all articles with the client's own helper, which sends again what the engine refuses with 429. */
    Map<String, Object> load() throws Exception {
        AtomicLong successful = new AtomicLong();
        AtomicLong failed = new AtomicLong();
        AtomicLong retried = new AtomicLong();
        BulkListener<Void> listener =
                new BulkListener<>() {
                    @Override
                    public void beforeBulk(long number, BulkRequest request, List<Void> contexts) {}

                    @Override
                    public void afterBulk(long number, BulkRequest request, List<Void> contexts, BulkResponse response) {
                        response.items().forEach(item -> (item.error() == null ? successful : failed).incrementAndGet());
                    }

                    @Override
                    public void afterBulk(long number, BulkRequest request, List<Void> contexts, Throwable error) {
                        System.err.println(error);
                        failed.addAndGet(request.operations().size());
                    }
                };
        BackoffPolicy patience = BackoffPolicy.wrap(BackoffPolicy.constantBackoff(50L, 200), retried::incrementAndGet);
        try (BulkIngester<Void> ingester =
                BulkIngester.of(
                        b ->
                                b.client(client)
                                        .maxOperations(40)
                                        .maxConcurrentRequests(4)
                                        .flushInterval(1, TimeUnit.SECONDS)
                                        .backoffPolicy(patience)
                                        .listener(listener))) {
            for (Map<String, Object> article : articles) {
                String id = (String) article.get("id");
                ingester.add(o -> o.index(i -> i.index(index).id(id).document(article.get("source"))));
            }
        }
        return Map.of("successful", successful.get(), "failed", failed.get(), "retried", retried.get());
    }
}
