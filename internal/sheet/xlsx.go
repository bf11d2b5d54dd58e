package sheet

import (
	"archive/zip"
	"bufio"
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"time"
)

// XLSX returns the workbook as an xlsx file. Errors are of *Error.
func XLSX(wb *Workbook) ([]byte, error) {
	var b bytes.Buffer
	if err := WriteXLSX(&b, wb); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// WriteXLSX writes what XLSX returns. A workbook with Compress is written row by
// row, in memory that does not grow with the rows; of one without it a sheet at
// a time is held. An error of the writer is returned as it is. What was written
// before an error is of no use.
func WriteXLSX(w io.Writer, wb *Workbook) error {
	if err := wb.check(); err != nil {
		return err
	}
	p := &parts{zip: zip.NewWriter(w), compress: wb.Compress}
	p.add("[Content_Types].xml", contentTypes(len(wb.Sheets)))
	p.add("_rels/.rels", rootRelations)
	p.add("docProps/core.xml", properties(wb))
	p.add("xl/styles.xml", styles())
	p.add("xl/_rels/workbook.xml.rels", relations(len(wb.Sheets)))
	last := make([]int, len(wb.Sheets))
	for i, s := range wb.Sheets {
		p.stream(fmt.Sprintf("xl/worksheets/sheet%d.xml", i+1), func(b *bufio.Writer) (err error) {
			last[i], err = writeSheet(b, s)
			return err
		})
	}
	p.add("xl/workbook.xml", book(wb, last))
	if p.err != nil {
		return p.err
	}
	return p.zip.Close()
}

// parts writes the parts of a file one after another and keeps the first error.
type parts struct {
	zip      *zip.Writer
	compress bool
	err      error
}

// epoch is the first time that a zip file can hold: nobody's clock is in it.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// stream adds a part that is written as it comes.
func (p *parts) stream(name string, write func(*bufio.Writer) error) {
	if p.err != nil {
		return
	}
	if !p.compress {
		p.err = p.store(name, write)
		return
	}
	part, err := p.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: epoch})
	if err == nil {
		err = buffered(part, 1<<16, write)
	}
	p.err = err
}

// store adds a part as it is. Its length is written before it: some readers
// know how to find the end of a packed part alone.
func (p *parts) store(name string, write func(*bufio.Writer) error) error {
	var content bytes.Buffer
	if err := buffered(&content, 1<<12, write); err != nil {
		return err
	}
	size := uint64(content.Len())
	header := &zip.FileHeader{
		Name: name, Method: zip.Store,
		CRC32: crc32.ChecksumIEEE(content.Bytes()), CompressedSize64: size, UncompressedSize64: size,
	}
	//lint:ignore SA1019 a raw part's header is written as it is, and this is the field that is written
	header.SetModTime(epoch)
	part, err := p.zip.CreateRaw(header)
	if err != nil {
		return err
	}
	_, err = content.WriteTo(part)
	return err
}

func buffered(w io.Writer, size int, write func(*bufio.Writer) error) error {
	b := bufio.NewWriterSize(w, size)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}

func (p *parts) add(name, content string) {
	p.stream(name, func(b *bufio.Writer) error {
		_, err := b.WriteString(content)
		return err
	})
}

// The names that the format gives its parts.
const (
	xmlHead   = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	nsMain    = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	nsDoc     = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	nsPackage = "http://schemas.openxmlformats.org/package/2006/"
	typeSheet = "application/vnd.openxmlformats-officedocument.spreadsheetml."
)

const rootRelations = xmlHead + `<Relationships xmlns="` + nsPackage + `relationships">` +
	`<Relationship Id="rId1" Type="` + nsDoc + `/officeDocument" Target="xl/workbook.xml"/>` +
	`<Relationship Id="rId2" Type="` + nsPackage + `relationships/metadata/core-properties" Target="docProps/core.xml"/>` +
	`</Relationships>`

func contentTypes(sheets int) string {
	var b strings.Builder
	b.WriteString(xmlHead + `<Types xmlns="` + nsPackage + `content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Default Extension="xml" ContentType="application/xml"/>`)
	override := func(part, kind string) {
		fmt.Fprintf(&b, `<Override PartName="%s" ContentType="%s+xml"/>`, part, kind)
	}
	override("/xl/workbook.xml", typeSheet+"sheet.main")
	override("/xl/styles.xml", typeSheet+"styles")
	override("/docProps/core.xml", "application/vnd.openxmlformats-package.core-properties")
	for i := range sheets {
		override(fmt.Sprintf("/xl/worksheets/sheet%d.xml", i+1), typeSheet+"worksheet")
	}
	b.WriteString(`</Types>`)
	return b.String()
}

func relations(sheets int) string {
	var b strings.Builder
	b.WriteString(xmlHead + `<Relationships xmlns="` + nsPackage + `relationships">`)
	for i := range sheets {
		fmt.Fprintf(&b, `<Relationship Id="rId%d" Type="%s/worksheet" Target="worksheets/sheet%d.xml"/>`, i+1, nsDoc, i+1)
	}
	fmt.Fprintf(&b, `<Relationship Id="rId%d" Type="%s/styles" Target="styles.xml"/></Relationships>`, sheets+1, nsDoc)
	return b.String()
}

// properties has no times and no names of people.
func properties(wb *Workbook) string {
	var b strings.Builder
	b.WriteString(xmlHead + `<cp:coreProperties xmlns:cp="` + nsPackage + `metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/">`)
	for _, p := range []struct{ element, text string }{{"dc:title", wb.Title}, {"dc:description", wb.About}} {
		if p.text != "" {
			b.WriteString("<" + p.element + ">" + escape(p.text) + "</" + p.element + ">")
		}
	}
	b.WriteString(`</cp:coreProperties>`)
	return b.String()
}

// book is the workbook part: its sheets, and the names by which a spreadsheet
// knows what to filter and what to print on every page.
func book(wb *Workbook, last []int) string {
	var sheets, names strings.Builder
	for i, s := range wb.Sheets {
		fmt.Fprintf(&sheets, `<sheet name="%s" sheetId="%d" r:id="rId%d"/>`, escape(s.Name), i+1, i+1)
		quoted := escape("'" + strings.ReplaceAll(s.Name, "'", "''") + "'")
		if s.Filter {
			fmt.Fprintf(&names, `<definedName name="_xlnm._FilterDatabase" localSheetId="%d" hidden="1">%s!$A$1:$%s$%d</definedName>`, i, quoted, columnName(len(s.Columns)), last[i])
		}
		fmt.Fprintf(&names, `<definedName name="_xlnm.Print_Titles" localSheetId="%d">%s!$1:$1</definedName>`, i, quoted)
	}
	return xmlHead + `<workbook xmlns="` + nsMain + `" xmlns:r="` + nsDoc + `"><bookViews><workbookView/></bookViews>` +
		`<sheets>` + sheets.String() + `</sheets><definedNames>` + names.String() + `</definedNames></workbook>`
}
