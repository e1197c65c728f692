// Talking to the server: what it offers, files as text, and a summary with its progress.

/** An answer that says what went wrong; `retryAfter` in seconds where trying again may help. */
export class Problem extends Error {
  constructor(message, { status = 0, retryAfter = null } = {}) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

let apiKey = "";

/** Send this key from now on. It is kept in this page's memory only. */
export function useApiKey(key) {
  apiKey = key;
}

/** Return what the server can do. */
export async function fetchOffer() {
  return (await ask("v1/models", {})).json();
}

/** Return the documents in a file, as text. */
export async function readFile(file) {
  const answer = await ask(`v1/read?name=${encodeURIComponent(file.name)}`, {
    method: "POST",
    body: file,
    headers: { "Content-Type": "application/octet-stream" },
  });
  return answer.json();
}

/** Ask for a summary; call `onProgress` with each stage, `onSentence` with each sentence as it is written, and
 * return the result line. */
export async function summarize(request, { signal, onProgress, onSentence }) {
  const answer = await ask("v1/summarize/stream", {
    method: "POST",
    body: JSON.stringify(request),
    headers: { "Content-Type": "application/json" },
    signal,
  });
  for await (const { event, data } of events(answer.body)) {
    if (event === "progress") onProgress(data);
    if (event === "sentence") onSentence(data);
    if (event === "result") return data;
    if (event === "error") throw new Problem(data.detail ?? "The summary could not be written.");
  }
  throw new Problem("The server ended the answer before the summary was done.");
}

async function ask(address, options) {
  const headers = { ...options.headers, ...(apiKey && { Authorization: `Bearer ${apiKey}` }) };
  let answer;
  try {
    answer = await fetch(address, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The server cannot be reached. Is it still running?");
  }
  if (!answer.ok) throw await problemOf(answer);
  return answer;
}

async function problemOf(answer) {
  const seconds = Number(answer.headers.get("Retry-After"));
  const body = await answer.json().catch(() => ({}));
  return new Problem(sentenceOf(body.detail) || `The server answered ${answer.status}.`, {
    status: answer.status,
    retryAfter: seconds || null,
  });
}

/** A sentence, or the list of fields that a check found wanting. */
function sentenceOf(detail) {
  if (Array.isArray(detail))
    return detail.map((part) => `${(part.loc ?? []).slice(1).join(".")}: ${part.msg}`).join("; ");
  return typeof detail === "string" ? detail : "";
}

/** Yield server-sent events from a stream of bytes. */
async function* events(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    buffer += value;
    const blocks = buffer.split(/\r?\n\r?\n/);
    buffer = blocks.pop();
    for (const block of blocks) {
      const fields = block
        .split(/\r?\n/)
        .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trimStart()]);
      const data = fields
        .filter(([name]) => name === "data")
        .map(([, text]) => text)
        .join("\n");
      const event = fields.find(([name]) => name === "event")?.[1] ?? "message";
      if (data) yield { event, data: JSON.parse(data) };
    }
  }
}
