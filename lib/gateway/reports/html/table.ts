import { html, type Markup } from './markup.ts'

type Cell = Markup | string | null

export interface Column<Row> {
  head: string
  cell: (row: Row) => Cell
  /** `n`: numbers, aligned right. */
  kind?: 'name' | 'n' | 'ci'
}

/** Leaves out columns without a value. */
export const tableOf = <Row>(caption: string, columns: readonly Column<Row>[], rows: readonly Row[]): Markup => {
  const cells = rows.map((row) => columns.map(({ cell }) => cell(row)))
  const used = columns.map((_, at) => at === 0 || cells.some((row) => row[at] !== null))
  const shown = <T>(values: readonly T[]) => values.filter((_, at) => used[at])
  const [, ...kinds] = shown(columns.map(({ kind }) => kind))
  return html`<div class="scroll" tabindex="0"><table><caption>${caption}</caption><thead><tr>${shown(columns).map(
    ({ head, kind }) => html`<th scope="col"${kind === 'n' && html` class="n"`}>${head}</th>`,
  )}</tr></thead><tbody>${cells.map((row) => {
    const [name, ...values] = shown(row)
    return html`<tr><th scope="row" class="name">${name}</th>${values.map(
      (value, at) =>
        html`<td${kinds[at] && html` class="${kinds[at]}"`}>${value ?? html`<span class="muted">–</span>`}</td>`,
    )}</tr>\n`
  })}</tbody></table></div>`
}

/** Lists the first items and states how many follow. */
export const cutList = <T>(items: readonly T[], max: number, shown: (item: T) => Markup): Markup =>
  html`<ul>${items.slice(0, max).map((item) => html`<li>${shown(item)}</li>`)}${
    items.length > max && html`<li class="muted">and ${(items.length - max).toLocaleString('en-US')} more</li>`
  }</ul>`
