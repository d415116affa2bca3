/* What the type check of the scripts needs to know besides them: the libraries of the page (vendor/), and that whoever
   writes a selector knows what it finds. */

declare const temml: { render(source: string, into: Element, options: object): void };
declare const markdownit: (options: object) => any;
declare const Diff: { diffWordsWithSpace(one: string, other: string, options?: object): { value: string; added: boolean; removed: boolean }[] | undefined };

interface ParentNode {
  querySelector(selector: string): any;
  querySelectorAll(selector: string): NodeListOf<any>;
}

interface Node {
  data?: string;
}
