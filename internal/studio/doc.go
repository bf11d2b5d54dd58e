// Package studio is the local web page of fsmgen studio: the definitions as
// pictures, tables, findings and differences, kept up to date while they are
// edited, and what other parts add to them. It is a handler; listening, printing
// and ending are the command's business.
//
// # Frame
//
// Each request is answered from one snapshot of the definitions, which never
// changes; a new one takes its place when a file was edited (definitions.go,
// watch.go). Whatever is asked for is in the address, so that every page can be
// shared, and every page is read with GET alone. Everything works without a
// script; the script adds what moves.
//
// # How a part is added
//
// A part is a function that takes the Studio and returns a [part]; it is entered
// in the table parts of routes.go, and has its files beside the others.
//
//   - Routes: part.routes, each a pattern such as "/m/{machine}/simulate" and a
//     function of a [visit]. It takes the machine by visit.machine, gives a [page]
//     to visit.show, and returns what went wrong: a *notFound is the 404 page, any
//     other error the 500 page.
//   - Menu: part.entry is the name of one of the entries of menu in routes.go, which
//     are shown for a machine when a part has them; part.top are entries for the
//     whole. A page says by page.Entry which of them it belongs to.
//   - Templates: assets/NAME.html with {{define "NAME"}}, the content of main, executed
//     with page.Data. All templates share one name space, with those of
//     gendocs.Templates: begin their names with the part's. {{t "English" "中文"}} chooses
//     words, in Go a wording.Phrase does; {{at "m" .Name "simulate"}} gives an
//     address that keeps the language, as visit.at does, and {{ask "state" .State "m" .Name}}
//     one with a query.
//   - Style and script: assets/NAME.css and assets/NAME.js are put behind those of the
//     frame. There is no style and no script in a page (the policy forbids them): a
//     size or colour that is computed is set by the script, or is an attribute of SVG.
//     A script calls pawl.ready(f): f(main) runs when the page is there, and again
//     with the new main when it was exchanged; whatever f starts outside of main must be
//     bound to pawl.signal(), which is aborted before that.
//   - Stream: page.Topics are what the page wants to hear beside "changed". While at
//     least one page listens to a topic that begins with part.topic, part.watch runs
//     with it, until its context ends; what it gives to Studio.publish is heard by
//     pawl.on(event, f), f getting the data as text. pawl.refresh() fetches the page
//     again and exchanges main, keeping scroll, focus and zoom.
//   - Cards: part.card adds a line to each machine's card on the first page.
//   - End: part.close is called by Studio.Close.
package studio
