/* What a person makes of replies: kept in the browser by run, task, example and length of the reply, so that any page with
   that reply shows it; saved as CSV, and read from there. */

const PERSON = "marked by a person";
const KINDS_OF_MARK = ["reading wrong", "label doubted", "question unclear"];

class PersonMarks {
  constructor(index) {
    this.index = index;
    this.changed = (_isRead) => {};
    this.lines = new Map(); // by identity: [mark, states, note]
    try {
      this.lines = new Map(JSON.parse(window.localStorage.getItem(PERSON) ?? "[]"));
    } catch {
      // without storage, marks last as long as the page
    }
  }

  identity(sample) {
    const { samples, documents, runs, tasks } = this.index;
    const document_ = samples.document[sample];
    return JSON.stringify([runs[samples.run[sample]], tasks[documents.task[document_]].name, String(documents.id[document_]), String(samples.length[sample])]);
  }

  has(sample) {
    return this.lines.size > 0 && this.lines.has(this.identity(sample));
  }

  put(identity, line) {
    if (line.some(Boolean)) this.lines.set(identity, line);
    else this.lines.delete(identity);
  }

  keep(isRead = false) {
    try {
      window.localStorage.setItem(PERSON, JSON.stringify([...this.lines]));
    } catch {
      // as above
    }
    this.changed(isRead);
  }

  /** The buttons and fields of a reply's mark; a button that is pressed again takes its mark away. */
  form(sample) {
    const identity = this.identity(sample);
    const line = this.lines.get(identity) ?? ["", "", ""];
    const keep = () => (this.put(identity, line), this.keep());
    const kinds = [...KINDS_OF_MARK, ...(line[0] && !KINDS_OF_MARK.includes(line[0]) ? [line[0]] : [])].map((kind, i) => {
      const choose = () => {
        line[0] = line[0] === kind ? "" : kind;
        for (const each of kinds) each.setAttribute("aria-pressed", String(each.value === line[0]));
        keep();
      };
      return button([kind, " ", el("kbd", {}, i + 1)], choose, { class: "btn", value: kind, "aria-pressed": String(kind === line[0]) });
    });
    const fields = [["states", "the reply states", 1], ["note", "note", 2]].map(([name, label, place]) => {
      const input = el("input", { name, value: line[place], autocomplete: "off" });
      input.addEventListener("change", () => {
        line[place] = input.value.trim();
        keep();
      });
      return el("label", {}, label, input);
    });
    return el("div", { class: "marks", role: "group", "aria-label": "Your mark" }, "Mark: ", kinds, fields);
  }

  /** Buttons to save all marks, and to read marks from a file. */
  buttons() {
    const rows = () => [["run", "task", "id", "length", "mark", "states", "note"], ...[...this.lines].map(([identity, line]) => [...JSON.parse(identity), ...line])];
    const file = el("input", { type: "file", accept: ".csv", class: "unseen", tabindex: "-1", "aria-label": "A CSV of marks" });
    file.addEventListener("change", async () => {
      for (const [run, task, id, length, ...line] of linesOfCsv(await file.files[0].text()).slice(1)) if (line.length > 2) this.put(JSON.stringify([run, task, id, length]), line.slice(0, 3));
      this.keep(true);
    });
    return [button("Marks", () => download("marks.csv", csv(rows())), { class: "btn", title: "Save your marks as CSV" }), button("Read marks", () => file.click(), { class: "btn", title: "Read marks from a CSV" }), file];
  }
}

/** The lines of a CSV, as texts; what csvCell() has set apart from a formula comes back as it was. */
function linesOfCsv(text) {
  const lines = [[]];
  for (const [, field, end] of text.replace("\ufeff", "").matchAll(/("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|$)/g)) {
    lines.at(-1).push((field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field).replace(/^'(?=[=@+\t\r-])/, ""));
    if (end !== ",") lines.push([]);
  }
  return lines.filter(({ length }) => length > 1);
}
