// The public items of Go files, by Go's own parser.
//
// Reads file names from standard input, and prints a line of JSON for each:
// {"file": …, "items": [{"path": …, "signature": …}]}, or {"file": …, "error": …} where Go cannot parse it.
//
// Public is what begins with a capital; a method also needs a receiver that does. A signature has the keyword before
// it, also where the declaration is in a group; a struct or an interface ends with that word, and its members are items.
package main

import (
	"bufio"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

const longValue = 80

type item struct {
	Path      string `json:"path"`
	Signature string `json:"signature"`
}

type word struct {
	at   int
	text string
}

type file struct {
	set   *token.FileSet
	words []word
	items []item
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	answer := json.NewEncoder(out)
	answer.SetEscapeHTML(false)
	for lines.Scan() {
		name := lines.Text()
		items, err := read(name)
		if err != nil {
			answer.Encode(map[string]any{"file": name, "error": err.Error()})
			continue
		}
		answer.Encode(map[string]any{"file": name, "items": items})
	}
}

func read(name string) ([]item, error) {
	source, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	f := file{set: token.NewFileSet(), items: []item{}}
	tree, err := parser.ParseFile(f.set, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f.scan(source)
	for _, declaration := range tree.Decls {
		switch declaration := declaration.(type) {
		case *ast.FuncDecl:
			f.function(declaration)
		case *ast.GenDecl:
			for _, spec := range declaration.Specs {
				f.spec(declaration.Tok.String(), spec)
			}
		}
	}
	return f.items, nil
}

// The tokens of the file. A line end that means `;` is one.
func (f *file) scan(source []byte) {
	set := token.NewFileSet()
	own := set.AddFile("", set.Base(), len(source))
	var s scanner.Scanner
	s.Init(own, source, func(token.Position, string) {}, 0)
	for {
		at, kind, text := s.Scan()
		if kind == token.EOF {
			return
		}
		if kind == token.SEMICOLON {
			text = ";"
		} else if text == "" || kind.IsOperator() {
			text = kind.String()
		}
		f.words = append(f.words, word{own.Offset(at), text})
	}
}

func (f *file) offset(at token.Pos) int { return f.set.PositionFor(at, false).Offset }

// The tokens between two places. A `;` before a bracket says nothing.
func (f *file) between(start, end token.Pos) string {
	from, to := f.offset(start), f.offset(end)
	first := sort.Search(len(f.words), func(i int) bool { return f.words[i].at >= from })
	var text []string
	for i := first; i < len(f.words) && f.words[i].at < to; i++ {
		if n := len(text); n > 0 && text[n-1] == ";" && (f.words[i].text == "}" || f.words[i].text == ")") {
			text = text[:n-1]
		}
		text = append(text, f.words[i].text)
	}
	for len(text) > 0 && text[len(text)-1] == ";" {
		text = text[:len(text)-1]
	}
	return strings.Join(text, " ")
}

func (f *file) add(path, signature string) {
	for _, part := range strings.Split(path, ".") {
		first, _ := utf8.DecodeRuneInString(part)
		if !unicode.IsUpper(first) {
			return
		}
	}
	f.items = append(f.items, item{path, signature})
}

func (f *file) function(declaration *ast.FuncDecl) {
	end := declaration.End()
	if declaration.Body != nil {
		end = declaration.Body.Pos()
	}
	name := declaration.Name.Name
	if declaration.Recv != nil && len(declaration.Recv.List) > 0 {
		name = base(declaration.Recv.List[0].Type) + "." + name
	}
	f.add(name, f.between(declaration.Pos(), end))
}

func (f *file) spec(keyword string, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		end := spec.End()
		signature := keyword + " " + f.between(spec.Pos(), end)
		if n := len(spec.Values); n > 0 {
			first := spec.Values[0].Pos()
			if f.offset(spec.Values[n-1].End())-f.offset(first) > longValue {
				signature = keyword + " " + f.between(spec.Pos(), first) + " …"
			}
		}
		for _, name := range spec.Names {
			f.add(name.Name, signature)
		}
	case *ast.TypeSpec:
		f.typed(spec)
	}
}

func (f *file) typed(spec *ast.TypeSpec) {
	name := spec.Name.Name
	opened := ""
	var members *ast.FieldList
	switch of := spec.Type.(type) {
	case *ast.StructType:
		opened, members = "struct", of.Fields
	case *ast.InterfaceType:
		opened, members = "interface", of.Methods
	}
	if members == nil || spec.Assign.IsValid() {
		f.add(name, "type "+f.between(spec.Pos(), spec.End()))
		return
	}
	f.add(name, "type "+f.between(spec.Pos(), spec.Type.Pos())+" "+opened)
	for _, field := range members.List {
		signature := f.between(field.Pos(), field.End())
		for _, own := range field.Names {
			f.add(name+"."+own.Name, signature)
		}
		if len(field.Names) == 0 {
			if embedded := base(field.Type); embedded != "" {
				f.add(name+"."+embedded, signature)
			}
		}
	}
}

// The name of a type without its package, its pointer and its arguments.
func base(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.Ident:
		return of.Name
	case *ast.StarExpr:
		return base(of.X)
	case *ast.ParenExpr:
		return base(of.X)
	case *ast.SelectorExpr:
		return of.Sel.Name
	case *ast.IndexExpr:
		return base(of.X)
	case *ast.IndexListExpr:
		return base(of.X)
	}
	return ""
}
