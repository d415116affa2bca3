/* Responses: rendered or raw, with folded reasoning, and transcripts with tools as conversations. */

const FIRST_SHOWN = 20_000; // characters of a long text, until "Show all" is pressed

/** Show a text, rendered or raw; of a long text the end, where the answer is, until the reader asks for all of it. */
function textNodes(text, raw) {
  const draw = (part) => (raw ? [el("pre", { class: "raw", tabindex: "0" }, part)] : markdown(part));
  const shown = el("div", { class: "text" }, draw(text.slice(-FIRST_SHOWN)));
  if (text.length <= FIRST_SHOWN) return [shown];
  const more = button(`Show all ${grouped(text.length)} characters`, () => {
    shown.replaceChildren(...draw(text));
    more.remove();
  }, { class: "btn" });
  return [more, shown];
}

/** Split a response into [reasoning, rest, whether the reasoning was never closed]. */
function splitReasoning(text) {
  const end = text.lastIndexOf("</think>");
  if (end >= 0) return [text.slice(0, end).replace(/^\s*<think>\s*/, ""), text.slice(end + 8).trim(), false];
  return /^\s*<think>/.test(text) ? [text.replace(/^\s*<think>\s*/, ""), "", true] : ["", text, false];
}

function responseNodes(text, raw) {
  if (text === "") return [el("p", { class: "note" }, "The response is empty.")];
  if (raw) return textNodes(text, true);
  const [reasoning, rest, isOpen] = splitReasoning(text);
  const nodes = [];
  if (reasoning.trim()) {
    const title = `Reasoning${isOpen ? ", never closed" : ""}, ${grouped(reasoning.length)} characters`;
    nodes.push(folded(title, () => textNodes(reasoning, false), { class: "reasoning" }));
  }
  if (rest) nodes.push(...textNodes(rest, false));
  else nodes.push(el("p", { class: "note" }, isOpen ? "Nothing follows the reasoning, so no answer was read." : "Nothing follows the reasoning."));
  return nodes;
}

/** Show the messages of a prompt. */
function messageNodes(messages, raw) {
  return messages.flatMap(({ role, content, ...rest }) => [
    el("p", { class: "role" }, role ?? "message"),
    ...(content === undefined || content === null ? [] : textNodes(asText(content), raw)),
    ...(Object.keys(rest).length ? [anything(rest)] : []),
  ]);
}

// ---- conversations with tools

/** Show the turns after the prompt, with each call as code, followed by its result. */
function conversationNodes(transcript, raw) {
  const start = transcript.findIndex((message) => message?.role === "assistant");
  if (start < 0) return [];
  const turns = [];
  const messages = transcript.slice(start);
  messages.forEach((message, i) => {
    if (message?.role !== "assistant") return;
    const next = messages.findIndex((later, j) => j > i && later?.role === "assistant");
    const answers = messages.slice(i + 1, next < 0 ? undefined : next).filter((each) => each && typeof each === "object");
    turns.push(turnNode(message, answers, raw, turns.length + 1));
  });
  return turns;
}

/** Group a reply with its results: one message with all results or, for native calls, one message each. */
function turnNode(message, answers, raw, count) {
  const text = asText(message.content ?? "");
  const said = raw ? text : text.replace(/<tool_call>[^]*?(<\/tool_call>|$)/g, "");
  const calls = answers.flatMap(({ role, content, calls: own }) => {
    const results = role === "tool" ? [asText(content ?? "")] : toolResults(asText(content ?? ""), own?.length);
    return (own ?? []).map((call, i) => callNode(call, results[i] ?? "", said));
  });
  const unanswered = answers.length ? [] : (message.tool_calls ?? []).map((call) => callNode({ name: call?.function?.name, argument: call?.function?.arguments }, "(not run)", said));
  const others = answers.filter(({ calls: own }) => !own?.length).flatMap(({ role, content }) => [el("p", { class: "role" }, role ?? "reply"), ...textNodes(asText(content ?? ""), raw)]);
  return el("div", { class: "turn" }, el("p", { class: "role" }, `turn ${count}`), said.trim() || !calls.length ? responseNodes(said, raw) : [], calls, unanswered, others);
}

/** Show a call with its result; its code is not shown again if the reply has it as it was run. */
function callNode(call, result, said) {
  const title = [call.failed ? "✗ " : "", words(asText(call.name ?? "call")), call.failed ? " – failed" : ""].join("");
  const code = typeof call.argument === "string" ? call.argument : JSON.stringify(call.argument ?? call.arguments ?? {}, null, 1);
  return el(
    "div",
    { class: call.failed ? "call failed" : "call" },
    el("p", { class: "call-name" }, title),
    !said.includes(code.trim()) && codeBlock(code, asText(call.name ?? "")),
    el("pre", { class: "result", tabindex: "0", "aria-label": call.failed ? "error" : "result" }, result.slice(0, FIRST_SHOWN) || "(no output)"),
  );
}

/** Split a message into the results of several calls. */
function toolResults(text, count) {
  const parts = text.split("<tool_response>").slice(1).map((part) => {
    const end = part.lastIndexOf("</tool_response>");
    return (end < 0 ? part : part.slice(0, end)).replace(/^\n|\n$/g, "");
  });
  return parts.length === count ? parts : [text];
}
