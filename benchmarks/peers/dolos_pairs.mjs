// Prints the similarity of all pairs of submissions in a folder; the second argument is the base code.
// Run it in a folder in which @dodona/dolos-lib is installed.
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const library = createRequire(join(process.cwd(), "/")).resolve("@dodona/dolos-lib");
const { Dolos } = await import(pathToFileURL(library));
const [folder, base] = process.argv.slice(2);
const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".java"));
const report = await new Dolos().analyzePaths(files.map((name) => join(folder, name)), base);
const submission = (file) => basename(dirname(file.path));
for (const pair of report.allPairs()) {
  console.log([submission(pair.leftFile), submission(pair.rightFile), pair.similarity].join("\t"));
}
