"use strict";

/* LaTeX as models write it, to MathML. Elements are made one by one, and what is not known stays as text. */

const MATHML = "http://www.w3.org/1998/Math/MathML";
const DEEPEST = 24; // nested groups, beyond which the source is shown

const table = (text) => new Map(text.trim().split(/\s+/).map((word, i, all) => [word, all[i + 1]]).filter((_, i) => i % 2 === 0));
const SYMBOLS = table(`alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι
  kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ
  Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω times × cdot · div ÷ pm ± mp ∓ ast ∗ star ⋆ circ ∘ bullet •
  leq ≤ le ≤ geq ≥ ge ≥ neq ≠ ne ≠ ll ≪ gg ≫ approx ≈ sim ∼ simeq ≃ cong ≅ equiv ≡ propto ∝ leqslant ⩽ geqslant ⩾
  lesssim ≲ gtrsim ≳ to → rightarrow → Rightarrow ⇒ implies ⟹ leftarrow ← Leftarrow ⇐ leftrightarrow ↔ iff ⟺
  Leftrightarrow ⇔ uparrow ↑ downarrow ↓ longrightarrow ⟶ mapsto ↦ infty ∞ partial ∂ nabla ∇ sum ∑ prod ∏ int ∫ oint ∮
  forall ∀ exists ∃ in ∈ notin ∉ subset ⊂ subseteq ⊆ cup ∪ cap ∩ emptyset ∅ setminus ∖ land ∧ wedge ∧ lor ∨ vee ∨
  neg ¬ lnot ¬ therefore ∴ because ∵ degree ° dots … ldots … cdots ⋯ vdots ⋮ prime ′ angle ∠ parallel ∥ perp ⊥
  langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ lbrace { rbrace } lbrack [ rbrack ] vert | Vert ‖ mid ∣ backslash \\
  checkmark ✓ dagger † hbar ℏ ell ℓ Re ℜ Im ℑ aleph ℵ triangle △ square □ blacksquare ■ colon : S § pounds £ euro €`);
const SPACES = { ",": "0.17em", ":": "0.22em", ";": "0.28em", " ": "0.3em", "!": "0", quad: "1em", qquad: "2em", enspace: "0.5em" };
const WORDS = new Set("log ln lg exp sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh lim max min sup inf det dim gcd arg deg Pr mod".split(" "));
const LIMITS = new Set(["sum", "prod", "lim", "max", "min", "sup", "inf"]);
const TEXTS = new Set(["text", "textrm", "textbf", "textit", "textnormal", "textsf", "texttt", "mbox", "hbox", "mathrm", "operatorname", "ce", "mathsf", "mathtt", "tag"]);
const STYLES = new Set(["mathbf", "boldsymbol", "bm", "mathit", "mathcal", "mathbb", "mathfrak", "mathnormal", "cancel", "bcancel", "xcancel", "phantom", "mathop", "mathbin", "mathrel"]);
const IGNORED = new Set(["displaystyle", "textstyle", "scriptstyle", "limits", "nolimits", "nonumber", "notag", "hline", "centering", "bigl", "bigr", "Bigl", "Bigr", "big", "Big", "bigg", "Bigg", "biggl", "biggr", "Biggl", "Biggr", "tfrac", "protect", "small", "large", "Large"]);
const ACCENTS = { bar: "¯", overline: "¯", hat: "^", widehat: "^", vec: "→", tilde: "~", dot: "˙", ddot: "¨", overbrace: "⏞", overrightarrow: "→" };
const FENCES = { pmatrix: "()", bmatrix: "[]", Bmatrix: "{}", vmatrix: "||", Vmatrix: "‖‖", cases: "{ " };

function math(tag, attributes, ...children) {
  const element = document.createElementNS(MATHML, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

class MathReader {
  constructor(source) {
    this.tokens = source.match(/\\[a-zA-Z]+\*?|\\[^]|\d+(?:[.,]\d+)*|\s+|[^]/gu) ?? [];
    this.at = 0;
    this.depth = 0;
  }

  peek() {
    while (/^\s/.test(this.tokens[this.at] ?? "")) this.at++;
    return this.tokens[this.at];
  }

  /** Rows of cells, up to an \end or a closing brace or the end: a table if there are several, else one row. */
  rows(stop, columns = "") {
    const rows = [[[]]];
    for (let token = this.peek(); token !== undefined && token !== stop; token = this.peek()) {
      if (token === "\\\\") rows.push([[]]);
      else if (token === "&") rows.at(-1).push([]);
      else {
        const node = this.scripted();
        if (node) rows.at(-1).at(-1).push(node);
        continue;
      }
      this.at++;
    }
    this.at++;
    if (rows.at(-1).every((cell) => !cell.length)) rows.pop();
    if (rows.length < 2 && (rows[0]?.length ?? 0) < 2) return math("mrow", {}, ...(rows[0]?.[0] ?? []));
    const cell = (nodes) => math("mtd", {}, ...nodes);
    return math("mtable", { class: columns }, ...rows.map((cells) => math("mtr", {}, ...cells.map(cell))));
  }

  /** The next thing with what stands above and below it. */
  scripted() {
    const token = this.peek();
    let base = this.one();
    let [above, below] = [null, null];
    for (let next = this.peek(); next === "^" || next === "_" || next === "'"; next = this.peek()) {
      this.at++;
      if (next === "'") above = math("mo", {}, "′");
      else if (next === "^") above = this.one() ?? math("mrow", {});
      else below = this.one() ?? math("mrow", {});
    }
    if (!above && !below) return base;
    base ??= math("mrow", {});
    const stacked = LIMITS.has(token?.slice(1));
    if (above && below) return math(stacked ? "munderover" : "msubsup", {}, base, below, above);
    return above ? math(stacked ? "mover" : "msup", {}, base, above) : math(stacked ? "munder" : "msub", {}, base, below);
  }

  /** The next thing alone; null for what only sets the type. */
  one() {
    const token = this.peek();
    this.at++;
    if (token === undefined) return null;
    if (token === "{") return this.deeper(() => this.rows("}"));
    if (token[0] === "\\" && token.length > 1) return this.command(token.slice(1).replace("*", ""));
    if (/^\d/.test(token)) return math("mn", {}, token);
    if (/^\p{L}$/u.test(token)) return math("mi", {}, token);
    if (token === "~") return math("mspace", { width: SPACES[" "] });
    const flat = "()[]|/".includes(token) ? { stretchy: "false" } : {};
    return math("mo", flat, { "-": "−", "*": "∗" }[token] ?? token);
  }

  deeper(read) {
    if (++this.depth > DEEPEST) {
      const rest = this.tokens.slice(this.at).join("");
      this.at = this.tokens.length;
      return math("mtext", {}, rest);
    }
    const node = read();
    this.depth--;
    return node;
  }

  /** An argument: a group or one thing; of a number without braces, one digit. */
  argument() {
    const token = this.peek();
    if (/^\d./.test(token ?? "")) this.tokens.splice(this.at, 1, token[0], token.slice(1));
    return this.deeper(() => this.one()) ?? math("mrow", {});
  }

  /** The source between braces or brackets, as text. */
  source(open = "{", close = "}") {
    if (this.peek() !== open) return open === "{" ? (this.tokens[this.at++] ?? "") : "";
    let [text, depth] = ["", 0];
    for (this.at++; this.at < this.tokens.length; this.at++) {
      const token = this.tokens[this.at];
      if (token === close && depth-- === 0) break;
      if (token === open) depth++;
      text += token.replace(/^\\(?=[^a-zA-Z])/, "");
    }
    this.at++;
    return text;
  }

  command(name) {
    if (SYMBOLS.has(name)) return math(/^[a-zA-Z]*(?:[Γ-ω])$/.test(SYMBOLS.get(name)) ? "mi" : "mo", {}, SYMBOLS.get(name));
    if (WORDS.has(name)) return math("mi", {}, name);
    if (name in SPACES) return math("mspace", { width: SPACES[name] });
    if (/^[dtc]?frac$/.test(name)) return math("mfrac", {}, this.argument(), this.argument());
    if (name === "binom") return math("mrow", {}, math("mo", {}, "("), math("mfrac", { linethickness: "0" }, this.argument(), this.argument()), math("mo", {}, ")"));
    if (name === "sqrt") {
      const degree = this.peek() === "[" ? this.source("[", "]") : "";
      const inside = this.argument();
      return degree ? math("mroot", {}, inside, math("mn", {}, degree)) : math("msqrt", {}, inside);
    }
    if (TEXTS.has(name)) return this.upright(name);
    if (name === "boxed" || name === "fbox") return math("mrow", { class: "boxed" }, name === "fbox" ? math("mtext", {}, this.source()) : this.argument());
    if (STYLES.has(name)) return math("mrow", { class: name }, this.argument());
    if (name in ACCENTS) return math("mover", { accent: "true" }, this.argument(), math("mo", {}, ACCENTS[name]));
    if (name === "underline" || name === "underbrace") return math("munder", {}, this.argument(), math("mo", {}, name === "underline" ? "_" : "⏟"));
    if (name === "overset" || name === "stackrel") return this.swapped("mover");
    if (name === "underset") return this.swapped("munder");
    if (name === "color" || name === "textcolor" || name === "label" || name === "vspace" || name === "hspace") return this.source() && null;
    if (name === "begin") return this.environment(this.source());
    if (name === "end") return this.source() && null;
    if (name === "left" || name === "right" || name === "middle") return this.fence();
    if (IGNORED.has(name)) return null;
    if (name.length === 1 && !/[a-zA-Z]/.test(name)) return math("mo", {}, name === "|" ? "‖" : name);
    return math("mtext", {}, `\\${name}`);
  }

  /** Text; where it is a formula in upright letters, such as \mathrm{CO_2}, that formula. */
  upright(name) {
    const start = this.at;
    const text = this.source();
    if (name !== "mathrm" || !/[_^]/.test(text)) return math("mtext", {}, text.replace(/\s+/g, "\u00a0"));
    this.at = start;
    const node = this.argument();
    for (const letter of node.querySelectorAll("mi")) letter.setAttribute("mathvariant", "normal");
    return node;
  }

  /** A bracket as high as what it encloses. */
  fence() {
    this.peek();
    const token = this.tokens[this.at++] ?? ".";
    return token === "." ? null : math("mo", { stretchy: "true" }, SYMBOLS.get(token.slice(1)) ?? token.replace(/^\\(?=[^a-z])/, ""));
  }

  swapped(tag) {
    const script = this.argument();
    return math(tag, {}, this.argument(), script);
  }

  environment(name) {
    if (name.startsWith("array")) this.source();
    const [open = "", close = ""] = FENCES[name] ?? "";
    const inside = this.deeper(() => this.rows("\\end", /^(?:align|split|cases|gather|eqn)/.test(name) ? "aligned" : ""));
    this.source();
    return math("mrow", {}, ...(open ? [math("mo", { stretchy: "true" }, open)] : []), inside, ...(close.trim() ? [math("mo", { stretchy: "true" }, close)] : []));
  }
}

/** A formula as an element; its source is its name, for those who copy it or do not see it. */
function formula(source, display) {
  const reader = new MathReader(visible(source.trim()));
  const rows = [];
  while (reader.peek() !== undefined) rows.push(reader.rows(null));
  return math("math", { display: display ? "block" : "inline", "aria-label": source.trim() }, ...rows);
}
