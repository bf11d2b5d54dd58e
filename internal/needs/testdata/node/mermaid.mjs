// Reads diagrams back with Mermaid's own parser, in a browser as its users do.
//
// In, on stdin: a JSON list of {name, text, render, png}. Out, on stdout: a JSON
// list, in the same order, of {name, error} or of
// {name, states: [{id, texts, note, classes}], edges: [{from, to, text}], shown}.
// When render is true, shown are the texts that a person sees; a png is a path
// that a screenshot is written to, to be looked at.
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const diagrams = JSON.parse(readFileSync(0, 'utf8') || '[]');
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
try {
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 }, deviceScaleFactor: 1 });
  await page.setContent('<!doctype html><meta charset="utf-8"><body></body>');
  await page.addScriptTag({ path: new URL('node_modules/mermaid/dist/mermaid.min.js', import.meta.url).pathname });
  const results = [];
  for (const diagram of diagrams) {
    results.push(await page.evaluate(read, diagram));
    if (diagram.png) {
      await page.locator('#drawn').screenshot({ path: diagram.png });
    }
  }
  process.stdout.write(JSON.stringify(results));
} finally {
  await browser.close();
}

// read runs in the page.
async function read({ name, text, render }) {
  // Mermaid keeps #58; as ﬂ°°58¶ß until it draws.
  const plain = (s) => s.replace(/ﬂ°°(\d+)¶ß/g, (_, code) => String.fromCodePoint(code));
  try {
    mermaid.initialize({ startOnLoad: false, securityLevel: 'strict' });
    const { db } = await mermaid.mermaidAPI.getDiagramFromText(text);
    const states = [...db.getStates().values()].map((s) => ({
      id: s.id,
      texts: (s.descriptions ?? []).map(plain),
      note: plain(s.note?.text ?? ''),
      classes: s.classes ?? [],
    }));
    const edges = db.getRelations().map((r) => ({ from: r.id1, to: r.id2, text: plain(r.relationTitle ?? '') }));
    if (!render) {
      return { name, states, edges };
    }
    document.body.innerHTML = '';
    const { svg } = await mermaid.render('picture', text);
    document.body.innerHTML = `<div id="drawn" style="display:inline-block;padding:16px">${svg}</div>`;
    const drawn = document.querySelector('#drawn svg');
    drawn.style.maxWidth = 'none';
    drawn.setAttribute('width', drawn.viewBox.baseVal.width);
    const seen = document.querySelectorAll('#drawn .nodeLabel, #drawn .edgeLabel p, #drawn .noteLabel');
    const shown = [...seen].map((e) => e.innerText).filter(Boolean);
    return { name, states, edges, shown };
  } catch (error) {
    return { name, error: String(error?.message ?? error) };
  }
}
