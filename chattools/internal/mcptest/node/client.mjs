// A client on the official TypeScript SDK. It takes one JSON argument, connects, makes the steps one after the
// other, and prints one line of JSON for each: what list or call returned, or the error.
import { pathToFileURL } from "node:url";
import { createRequire } from "node:module";

const require = createRequire(process.env.SALLYPORT_TEST_NODE + "/package.json");
const sdk = (file) => import(pathToFileURL(require.resolve("@modelcontextprotocol/sdk/client/" + file)));
const { Client } = await sdk("index.js");
const { StreamableHTTPClientTransport } = await sdk("streamableHttp.js");
const { StdioClientTransport } = await sdk("stdio.js");

const job = JSON.parse(process.argv[2]);
const transport = job.url
	? new StreamableHTTPClientTransport(new URL(job.url), { requestInit: { headers: job.headers ?? {} } })
	: new StdioClientTransport({ command: job.command[0], args: job.command.slice(1), stderr: "ignore" });
const client = new Client({ name: "typescript", version: "1" });
await client.connect(transport);
for (const step of job.steps) {
	let line;
	try {
		line = step.call ? { result: await client.callTool({ name: step.call, arguments: step.arguments }) } : { result: await client.listTools() };
	} catch (e) {
		line = { error: String(e.message) };
	}
	console.log(JSON.stringify(line));
}
await client.close();
