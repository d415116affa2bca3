/* The line that says why the point was lost: pure functions of what was read. */

/** Say what happened to one reply, after its letter or "It".
 * @param {{outcome: string, answer: string, share?: number, ended?: string, tokens?: number, limit?: number, isEmpty?: boolean, isThinking?: boolean, strict?: string, words?: string}} side
 * @param {{target: string, range?: number[]}} about
 * @param isKeyTold whether the key need not be said again */
function clauseOf({ outcome, answer, share, ended, tokens, limit, isEmpty, isThinking, strict, words: read }, { target, range }, isKeyTold = false) {
  const key = isKeyTold ? "" : `; the key says ${target}`;
  if (outcome === "right") return `answers ${answer}`;
  if (share > 0) return `is right in ${Math.round(100 * share)} % of its generations`;
  if (outcome === "form") return `has ${target} right, but not in the form: the published rule reads ${strict ?? "nothing"}, the lenient one ${answer}${read ? ` in “${read.trim()}”` : ""}`;
  const length = tokens ?? limit;
  if (outcome === "cut") return `gives no answer: the reply breaks off at ${length ? `${grouped(length)} tokens` : "the token limit"}${isThinking ? " while thinking" : ""}`;
  if (outcome === "none" && ended === "filter") return "gives no answer: a content filter stopped the reply";
  if (outcome === "none") return `gives no answer: the reply ${isEmpty ? "is empty" : isThinking ? "never leaves its reasoning" : "ends without one"}`;
  if (outcome === "unsure") return `says that it is unsure${key}`;
  if (outcome !== "wrong") return "is not scored";
  const value = Number(String(answer).replaceAll(",", ""));
  const isOutside = range && (value < range[0] || value > range[1]);
  return isOutside ? `answers ${answer}, which is outside ${range[0]}–${range[1]}` : `answers ${answer ?? "nothing"}${key}`;
}

/** Say why one or two replies lost the point, as [what happened, what to make of it]. */
function whyLine(sides, about) {
  const [one, other] = sides;
  const isRight = ({ outcome }) => outcome === "right";
  const lost = sides.filter((side) => !isRight(side));
  const issues = about.issues?.length ? `The label is doubted: ${about.issues.join("; ")}.` : "";
  if (!other) return [`${one.letter || "It"} ${clauseOf(one, about)}${isRight(one) ? ", which is right" : ""}.`, [remark(lost), issues].filter(Boolean).join(" ")];
  const isSame = lost.length === 2 && one.outcome === "wrong" && other.outcome === "wrong" && one.answer === other.answer;
  const first = isRight(one) && isRight(other) ? `Both answer ${one.answer}, which is right` : isSame ? `Both answer ${one.answer ?? "nothing"}; the key says ${about.target}` : sides.map((side) => `${side.letter} ${clauseOf(side, about, lost.indexOf(side) > 0)}`).join("; ");
  return [`${first}.`, [remark(lost, sides.length), issues].filter(Boolean).join(" ")];
}

const UNCERTAIN_BELOW = 0.9; // as report/packed_samples.py has it

/** Say whether wrong answers are clear enough to be the model's own. */
function remark(lost, count = 1) {
  const wrong = lost.filter(({ outcome, share }) => outcome === "wrong" && !(share > 0));
  if (!wrong.length || wrong.length < lost.length) return "";
  if (wrong.some(({ ended }) => ended === "length")) return "The reply breaks off: the answer was read before its end.";
  if (wrong.some(({ certainty }) => certainty < UNCERTAIN_BELOW)) return "What was read is uncertain.";
  if (wrong.some(({ certainty }) => typeof certainty !== "number")) return "";
  return `${count > 1 ? (wrong.length > 1 ? "Both state it clearly" : `${wrong[0].letter} states it clearly`) : "Stated clearly"}: lost on knowledge, not on form.`;
}
