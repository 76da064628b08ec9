// The public items of TypeScript files, by TypeScript's own parser.
//
// Reads file names from standard input, and prints a line of JSON for each:
// {"file": …, "items": [{"path": …, "signature": …}]}, or {"file": …, "error": …} where TypeScript finds an error in it.
// The package is found in the folder WEIR_ORACLE_TYPESCRIPT, below its node_modules.
//
// Public is what is exported, then or later; in a file that is no module, and in what is only declared, everything. A
// member is public unless it is `private` or begins with `#`. An export of something in the same file by its own name is
// no item. `export`, `default`, `declare` and decorators are no part of a signature.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const folder = process.env.WEIR_ORACLE_TYPESCRIPT;
if (!folder) throw new Error("WEIR_ORACLE_TYPESCRIPT is not set");
const ts = createRequire(`${folder}/package.json`)("typescript");
const K = ts.SyntaxKind;
const LONG_VALUE = 80;
const LEFT_OUT = new Set([K.ExportKeyword, K.DefaultKeyword, K.DeclareKeyword]);

class File {
  constructor(name) {
    this.text = readFileSync(name, "utf8");
    this.source = ts.createSourceFile(name, this.text, ts.ScriptTarget.Latest, true);
    const [error] = this.source.parseDiagnostics;
    if (error) throw new Error(ts.flattenDiagnosticMessageText(error.messageText, " "));
    this.items = [];
  }

  read() {
    const module = ts.isExternalModule(this.source);
    this.statements(this.source.statements, [], !module);
    return this.items;
  }

  add(above, name, signature) {
    this.items.push({ path: [...above, name].join("."), signature });
  }

  // The tokens of a node, without those that `skip` names and what is inside them. A type's members, which a line end may
  // part, are parted by `;`.
  tokens(node, skip = new Map()) {
    const words = [];
    const visit = (node) => {
      if (skip.has(node)) {
        if (skip.get(node)) words.push(skip.get(node));
        return;
      }
      if (ts.isJSDoc?.(node) || (node.kind >= K.FirstJSDocNode && node.kind <= K.LastJSDocNode)) return;
      if (node.kind < K.FirstNode || ts.isTemplateExpression(node) || ts.isTemplateLiteralTypeNode(node) || ts.isJsxText(node)) {
        words.push(node.getText(this.source));
        return;
      }
      const parted = ts.isTypeLiteralNode(node) || ts.isInterfaceDeclaration(node) || ts.isClassLike(node);
      for (const child of node.getChildren(this.source)) {
        if (!skip.has(child) && parted && child.kind === K.SyntaxList && node.members?.length && child.pos === node.members.pos) {
          child.getChildren(this.source).forEach((member) => {
            if (words.length && !["{", ";", ","].includes(words.at(-1).at(-1)) && ts.isTypeLiteralNode(node)) words.push(";");
            visit(member);
          });
        } else visit(child);
      }
    };
    visit(node);
    return words.join(" ");
  }

  // What is left out of every signature of a declaration.
  base(node) {
    const skip = new Map();
    for (const modifier of node.modifiers ?? []) {
      const decorator = ts.isDecorator(modifier);
      const member = ts.isClassElement(node);
      if (decorator || (!member && LEFT_OUT.has(modifier.kind))) skip.set(modifier, "");
    }
    return skip;
  }

  // Leaves out the body of a function or class that is a value, or a value that is long.
  value(skip, value) {
    if (!value) return;
    if ((ts.isArrowFunction(value) || ts.isFunctionExpression(value)) && value.body) skip.set(value.body, "");
    else if (ts.isClassExpression(value)) this.members(skip, value);
    else if (Buffer.byteLength(value.getText(this.source)) > LONG_VALUE) skip.set(value, "…");
  }

  // Leaves out the braces and what is between.
  members(skip, node) {
    const children = node.getChildren(this.source);
    const open = children.findIndex((child) => child.kind === K.OpenBraceToken);
    children.slice(open).forEach((child) => skip.set(child, ""));
  }

  statements(list, above, all) {
    const exported = new Map();
    for (const node of list) {
      if (ts.isExportDeclaration(node) && node.exportClause && ts.isNamedExports(node.exportClause) && !node.moduleSpecifier) {
        for (const one of node.exportClause.elements) exported.set((one.propertyName ?? one.name).text, one.name.text);
      } else if (ts.isExportAssignment(node) && ts.isIdentifier(node.expression)) exported.set(node.expression.text, "");
    }
    const declared = new Set();
    for (const node of list) this.names(node).forEach((name) => declared.add(name));
    for (const node of list) this.statement(node, above, { all, exported, declared });
  }

  names(node) {
    if (ts.isVariableStatement(node)) return node.declarationList.declarations.flatMap((one) => bound(one.name));
    if (ts.isModuleDeclaration(node)) return [moduleName(node)];
    const declares = ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node);
    if (declares || ts.isTypeAliasDeclaration(node) || ts.isEnumDeclaration(node)) return node.name ? [node.name.text] : [];
    return [];
  }

  statement(node, above, scope) {
    if (ts.isExportDeclaration(node) || ts.isExportAssignment(node) || ts.isNamespaceExportDeclaration(node)) {
      return this.export(node, above, scope);
    }
    const has = (kind) => (node.modifiers ?? []).some((modifier) => modifier.kind === kind);
    if (ts.isImportEqualsDeclaration(node)) {
      if (has(K.ExportKeyword)) this.add(above, node.name.text, this.tokens(node, this.base(node)));
      return;
    }
    const open = scope.all || has(K.ExportKeyword);
    const isPublic = (name) => open || scope.exported.has(name);
    if (ts.isVariableStatement(node)) {
      const skip = this.base(node);
      node.declarationList.declarations.forEach((one) => this.value(skip, one.initializer));
      const names = this.names(node).filter(isPublic);
      names.forEach((name) => this.add(above, name, this.tokens(node, skip)));
    } else if (ts.isModuleDeclaration(node)) this.module(node, above, isPublic, scope);
    else if (ts.isFunctionDeclaration(node)) {
      const name = node.name?.text ?? "default";
      const skip = this.base(node);
      if (node.body) skip.set(node.body, "");
      if (isPublic(name)) this.add(above, name, this.tokens(node, skip));
    } else if (ts.isTypeAliasDeclaration(node)) {
      if (isPublic(node.name.text)) this.add(above, node.name.text, this.tokens(node, this.base(node)));
    } else if (ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isEnumDeclaration(node)) {
      const name = node.name?.text ?? "default";
      if (!isPublic(name)) return;
      const skip = this.base(node);
      this.members(skip, node);
      this.add(above, name, this.tokens(node, skip));
      node.members.forEach((member) => this.member(member, [...above, name]));
    }
  }

  module(node, above, isPublic, scope) {
    const global = ts.isStringLiteral(node.name);
    const isGlobal = node.flags & ts.NodeFlags.GlobalAugmentation;
    const name = moduleName(node);
    let inner = node;
    while (inner.body && ts.isModuleDeclaration(inner.body)) inner = inner.body;
    const list = inner.body?.statements ?? [];
    const ambient = node.flags & ts.NodeFlags.Ambient || (node.modifiers ?? []).some((one) => one.kind === K.DeclareKeyword);
    const all = Boolean(ambient) && !list.some((one) => ts.isExportDeclaration(one) || ts.isExportAssignment(one));
    if (isGlobal) return this.statements(list, above, true);
    if (!global && !isPublic(name)) return;
    const skip = this.base(node);
    if (inner.body) skip.set(inner.body, "");
    this.add(above, name, this.tokens(node, skip));
    this.statements(list, [...above, name], all);
  }

  export(node, above, { exported, declared }) {
    const skip = new Map();
    let names = [];
    if (ts.isNamespaceExportDeclaration(node)) names = [node.name.text];
    else if (ts.isExportAssignment(node)) {
      names = [node.isExportEquals ? "export=" : "default"];
      const value = node.expression;
      const plain = !node.isExportEquals && (ts.isArrowFunction(value) || ts.isFunctionExpression(value) || ts.isClassExpression(value));
      // A function or a class that is exported is an item of its own.
      if (plain) {
        this.value(skip, value);
        this.add(above, value.name?.text ?? "default", this.tokens(value, skip));
        if (ts.isClassExpression(value)) value.members.forEach((member) => this.member(member, [...above, "default"]));
        return;
      }
      this.value(skip, value);
    } else if (!node.exportClause) names = ["*"];
    else if (ts.isNamespaceExport(node.exportClause)) names = [node.exportClause.name.text];
    else {
      for (const one of node.exportClause.elements) {
        const local = (one.propertyName ?? one.name).text;
        const own = !node.moduleSpecifier && local === one.name.text && declared.has(local);
        if (!own) names.push(one.name.text);
      }
    }
    names.forEach((name) => this.add(above, name, this.tokens(node, skip)));
  }

  member(node, above) {
    const isPrivate = (node.modifiers ?? []).some((modifier) => modifier.kind === K.PrivateKeyword);
    if (isPrivate || (node.name && ts.isPrivateIdentifier(node.name))) return;
    const name = memberName(node, this.source);
    if (name === undefined) return;
    const skip = this.base(node);
    if (node.body) skip.set(node.body, "");
    this.value(skip, node.initializer);
    this.add(above, name, this.tokens(node, skip));
  }
}

function moduleName(node) {
  let name = node.name.text;
  for (let inner = node.body; inner && ts.isModuleDeclaration(inner); inner = inner.body) name += `.${inner.name.text}`;
  return name;
}

function memberName(node, source) {
  if (ts.isConstructorDeclaration(node)) return "constructor";
  if (ts.isCallSignatureDeclaration(node)) return "()";
  if (ts.isConstructSignatureDeclaration(node)) return "new()";
  if (ts.isIndexSignatureDeclaration(node)) return "[]";
  if (!node.name) return undefined;
  return ts.isStringLiteral(node.name) ? node.name.getText(source).slice(1, -1) : node.name.getText(source);
}

function bound(name) {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((one) => (ts.isOmittedExpression(one) ? [] : bound(one.name)));
}

for await (const name of createInterface({ input: process.stdin })) {
  try {
    const file = new File(name);
    process.stdout.write(`${JSON.stringify({ file: name, items: file.read() })}\n`);
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ file: name, error: String(error.message) })}\n`);
  }
}
