import type { Verdict } from '#lib/protocol/reports.ts'
import { html, Markup } from './markup.ts'
import { contentPolicy, style } from './style.ts'

/** Where a file came from: the console's page, or the share link it was read through. */
export interface Provenance {
  now_ms: number
  /** Address of the page with the same figures. */
  url?: string | undefined
  shared?: { by: string; expires_ms: number; logsPath: ((run: string) => string) | undefined } | undefined
}

export interface HtmlReport {
  kind: string
  title: string
  facts: readonly (readonly [label: string, value: string])[]
  verdict: Verdict | null
  sections: readonly (Markup | null)[]
  notes: readonly string[]
  /** Runs whose logs a share link may include. */
  runs: readonly { id: string; label: string }[]
  provenance: Provenance
}

export const htmlDocument = (report: HtmlReport): string => {
  const { kind, title, facts, verdict, sections, notes, runs, provenance } = report
  const { now_ms, url, shared } = provenance
  return pageOf(
    `${title} · ${kind}`,
    html`<header>
<span class="brand">${logo} Devdeck · ${kind}</span>
<span class="stamp">Computed ${timeText(now_ms)}</span>
<h1>${title}</h1>
<ul class="facts">${facts.map(([label, value]) => html`<li>${label} <b>${value}</b></li>`)}</ul>
</header>
${verdict && html`<section class="verdict ${verdict.tone}" aria-label="Verdict"><p class="lead">${verdict.lead}</p>${verdict.more.length > 0 && html`<p>${verdict.more.join(' ')}</p>`}</section>`}
${sections}
${shared?.logsPath && logLinks(runs, shared.logsPath)}
${section('How these figures are computed', html`<ul>${notes.map((note) => html`<li>${note}</li>`)}</ul>`)}
<footer>
${
  shared
    ? html`Shared read-only by ${shared.by}. The link expires ${timeText(shared.expires_ms)}. Figures are computed when the link is opened.`
    : html`Computed ${timeText(now_ms)}. This file has no scripts and loads nothing.${url !== undefined && html` Current figures: <a href="${url}" rel="noreferrer">${url}</a>`}`
}
</footer>`,
  )
}

/** A page with one message, in the style of the reports. */
export const messagePage = (title: string, message: string): string =>
  pageOf(title, html`<header><span class="brand">${logo} Devdeck</span><h1>${title}</h1></header><p>${message}</p>`)

const pageOf = (title: string, content: Markup): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${contentPolicy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<title>${title} · Devdeck</title>
<style>${new Markup(style)}</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`.text

const logLinks = (runs: HtmlReport['runs'], path: (run: string) => string): Markup | null =>
  runs.length === 0
    ? null
    : section('Logs', html`<ul>${runs.map(({ id, label }) => html`<li><a href="${path(id)}">${label}</a></li>`)}</ul>`)

export const section = (title: string, ...content: readonly (Markup | null)[]): Markup =>
  html`<section><h2>${title}</h2>${content}</section>`

/** `2026-03-01 14:05 UTC` */
export const timeText = (ms: number | null): string =>
  ms === null || Math.abs(ms) > 8.64e15
    ? 'at an unknown time'
    : new Date(ms).toISOString().replace(/T(\d\d:\d\d).*/, ' $1 UTC')

const logo = html`<svg aria-hidden="true" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#4b46c8"/><path d="M8 11.5 12.5 16 8 20.5M16 20.5h8M16 11.5h8M20 16h4" fill="none" stroke="#fff" stroke-width="2.75" stroke-linecap="round" stroke-linejoin="round"/></svg>`
