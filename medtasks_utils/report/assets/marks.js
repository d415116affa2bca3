"use strict";

/* What a person makes of responses: kept in the browser by run, task, example and length of the response, so that any page
   with that response shows it; saved as CSV, and read from there. */

const PERSON = "marked by a person";
const KINDS_OF_MARK = ["", "reading wrong", "reading right", "label doubted", "other"];
const MARK_HEAD = ["run", "task", "id", "length", "mark", "states", "note"];

class PersonMarks {
  constructor(index) {
    this.index = index;
    this.changed = () => {};
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
    return JSON.stringify([runs[samples.run[sample]], tasks[documents.task[document_]].name, String(documents.id[document_]), String(samples.columns.length[sample])]);
  }

  has(sample) {
    return this.lines.size > 0 && this.lines.has(this.identity(sample));
  }

  put(identity, line) {
    if (line.some(Boolean)) this.lines.set(identity, line);
    else this.lines.delete(identity);
  }

  keep() {
    try {
      window.localStorage.setItem(PERSON, JSON.stringify([...this.lines]));
    } catch {
      // as above
    }
    this.changed();
  }

  /** The fields of a sample, to be filled in. */
  form(sample) {
    const identity = this.identity(sample);
    const [kind = "", states = "", note = ""] = this.lines.get(identity) ?? [];
    const select = el("select", { name: "mark" }, KINDS_OF_MARK.map((each) => el("option", { value: each, ...(each === kind && { selected: "" }) }, each || "not marked")));
    const inputs = [["states", "The response states", states], ["note", "Note", note]].map(([name, label, value]) => el("label", {}, label, el("input", { name, value, autocomplete: "off" })));
    const form = el("form", { class: "own-mark", "aria-label": "Your mark" }, el("label", {}, "Your mark", select), inputs);
    form.addEventListener("change", () => { this.put(identity, [form.elements.mark, form.elements.states, form.elements.note].map(({ value }) => value.trim())); this.keep(); });
    form.addEventListener("submit", (event) => event.preventDefault());
    return form;
  }

  /** Buttons to save all marks, and to read marks from a file. */
  buttons() {
    const save = button("Marks", () => download("marks.csv", [csv([MARK_HEAD, ...[...this.lines].map(([identity, line]) => [...JSON.parse(identity), ...line])])]), { class: "csv", title: "Save your marks as CSV" });
    const file = el("input", { type: "file", accept: ".csv", class: "unseen", tabindex: "-1", "aria-label": "A CSV of marks" });
    file.addEventListener("change", async () => {
      for (const [run, task, id, length, ...line] of linesOfCsv(await file.files[0].text()).slice(1)) if (line.length > 2) this.put(JSON.stringify([run, task, id, length]), line.slice(0, 3));
      this.keep();
    });
    return [save, button("Read marks", () => file.click(), { class: "csv", title: "Read marks from a CSV" }), file];
  }
}

/** The lines of a CSV, as texts; what quoted() has set apart from a formula comes back as it was. */
function linesOfCsv(text) {
  const lines = [[]];
  for (const [, field, end] of text.replace("\ufeff", "").matchAll(/("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|$)/g)) {
    lines.at(-1).push((field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field).replace(/^'(?=[=@+\t\r-])/, ""));
    if (end !== ",") lines.push([]);
  }
  return lines.filter(({ length }) => length > 1);
}
