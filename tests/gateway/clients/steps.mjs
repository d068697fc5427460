// Runs the steps of test_clients.py with the official JavaScript client, and prints what it got as one JSON object.
// Usage: node steps.mjs URL INDEX ARTICLES [grouped]; with `load` instead of `grouped`, it only loads the articles.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

// The packages are in a cache, outside of the checkout.
const { Client } = createRequire(`${process.env.CLIENT_PACKAGES}/`)("@opensearch-project/opensearch");

const [url, index, file, mode] = process.argv.slice(2);
const articles = JSON.parse(readFileSync(file, "utf8"));
const client = new Client({ node: url, compression: process.env.CLIENT_COMPRESSION ? "gzip" : undefined });

/** Return the status and the type of the error that a request ends with. */
async function refusal(request) {
  try {
    return [(await request).statusCode, "no error"];
  } catch (error) {
    return [error.statusCode, error.body?.error?.type ?? error.body?.result ?? (error.body?.found === false ? "not found" : "")];
  }
}

async function steps() {
  const got = {};
  const lines = articles.flatMap(({ id, source }) => [{ index: { _index: index, _id: id } }, source]);
  lines.push({ create: { _index: index, _id: articles[0].id } }, articles[0].source, { delete: { _index: index, _id: "none" } });
  const bulk = (await client.bulk({ body: lines })).body;
  got.bulk = [bulk.errors, bulk.items.map((item) => Object.values(item)[0].status)];

  const body = { ...articles[3].source, author: "bo" };
  const first = (await client.index({ index, id: "new/1 ä", body })).body;
  const second = (await client.index({ index, id: "new/1 ä", body: { ...body, body: articles[4].source.body } })).body;
  const unnamed = (await client.index({ index, body: { headline: "Unnamed" } })).body;
  got.index = [first.result, first._version, second.result, second._version, unnamed.result, unnamed._version];

  const update = async (id, change) => (await client.update({ index, id, body: change })).body;
  const doc = { doc: { body: articles[5].source.body } };
  const updates = [await update("6", doc), await update("6", doc), await update("up", { doc: { author: "cy" }, upsert: articles[6].source })];
  updates.push(await update("7", { script: { source: "ctx._source.author = params.name", params: { name: "eve" } } }));
  got.update = updates.map((answer) => [answer.result, answer._version]);

  got.delete = [(await client.delete({ index, id: "8" })).body.result, await refusal(client.delete({ index, id: "8" }))];
  const stored = (await client.get({ index, id: "6" })).body;
  got.get = [stored._version, stored._source, await refusal(client.get({ index, id: "8" }))];
  got.exists = [(await client.exists({ index, id: "6" })).body, (await client.exists({ index, id: "8" })).body];

  await client.indices.refresh({ index });
  const query = { bool: { filter: [{ term: { author: "ada" } }], should: [{ match_phrase: { body: "The end of edition" } }] } };
  const request = { query, sort: [{ number: "asc" }] };
  const highlight = { fields: { body: { number_of_fragments: 1 } } };
  const found = (await client.search({ index, size: 4, body: { ...request, highlight } })).body;
  got.search = [found.hits.total.value, found.hits.hits.map((hit) => [hit._id, (hit.highlight?.body ?? []).length])];

  got.errors = [
    await refusal(client.search({ index: "no-such-index", body: {} })),
    await refusal(client.search({ index, body: { query: { query_string: { query: "(((" } } } })),
    await refusal(client.create({ index, id: "6", body: { headline: "Again" } })),
    await refusal(client.index({ index, id: "strict", body: { unknown_field: 1 } })),
    await refusal(client.index({ index, id: "6", if_seq_no: 99999, if_primary_term: 1, body: { headline: "Again" } })),
  ];

  if (mode === "grouped") {
    got.grouped = [];
    for (let from = 0; from < 8; from += 2) {
      const page = await client.search({ index, from, size: 2, winnow: "group", body: request });
      const hits = page.body.hits.hits.map((hit) => [hit._id, (hit.inner_hits?.winnow?.hits?.hits ?? []).map((member) => member._id).sort()]);
      got.grouped.push([page.body.hits.total.value, page.body.ext.winnow.groups.value, hits]);
    }
    const documents = await client.helpers.search({ index, size: 2, winnow: "group", body: request });  // with filter_path
    const shown = got.grouped[0][2].length;
    if (shown === 0 || documents.length !== shown) throw new Error(`${documents.length} documents of ${shown} groups`);
  }
  return got;
}

/** Load all articles with the client's own helper, which sends again what the engine refuses with 429. */
async function load() {
  const result = await client.helpers.bulk({
    datasource: articles,
    flushBytes: 50_000,
    concurrency: 4,
    retries: 100,
    wait: 50,
    onDocument: ({ id, source }) => [{ index: { _index: index, _id: id } }, source],
    onDrop: ({ error }) => console.error(error),
  });
  return { successful: result.successful, failed: result.failed, retried: result.retry };
}

console.log(JSON.stringify(await (mode === "load" ? load() : steps())));
