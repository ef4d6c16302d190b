import type { ShellInput, TerminalNotice } from '#lib/protocol/terminals.ts'

const maxPages = 100
const maxDrops = 50

type Dropped = Extract<TerminalNotice, { t: 'dropped' }>

interface Page {
  received: number
  /** Bytes up to here have reached the shell or were dropped. */
  settled: number
  /** Repeated when the page reconnects, because the first report may have been lost. */
  drops: Dropped[]
}

interface Input {
  page: string
  /** Positions in the page's bytes and in the link's bytes. */
  pageEnd: number
  linkEnd: number
  length: number
}

/** Tracks which input of which page has reached the shell, across reconnects. */
export class TypedPositions {
  readonly #notify: (page: string, notice: TerminalNotice) => void
  readonly #pages = new Map<string, Page>()
  #onTheWay: Input[] = []

  constructor(notify: (page: string, notice: TerminalNotice) => void) {
    this.#notify = notify
  }

  /** Undefined for a page that hasn't sent anything. */
  receivedFrom(page: string): number | undefined {
    return this.#pages.get(page)?.received
  }

  /** `send` passes the input to the link and returns the link's new position. */
  typed(name: string, length: number, send: () => number): void {
    const page = this.#page(name)
    page.received += length
    this.#onTheWay.push({ page: name, pageEnd: page.received, linkEnd: send(), length })
  }

  refused(name: string, length: number): void {
    const page = this.#page(name)
    page.received += length
    this.#drop(name, page.received - length, page.received, false)
  }

  /** All input up to a link position has reached the shell, except what was dropped. */
  reached(position: number, shellInput?: ShellInput): void {
    const settled = new Set<string>()
    const left: Input[] = []
    for (const input of this.#onTheWay) {
      const page = this.#pages.get(input.page)
      const reached = Math.min(input.length, position - input.linkEnd + input.length)
      if (reached < input.length) left.push(input)
      if (!page || reached <= 0) continue
      page.settled = input.pageEnd - input.length + reached
      settled.add(input.page)
    }
    this.#onTheWay = left
    const input = shellInput && { input: shellInput }
    for (const name of settled) this.#notify(name, { t: 'typed', n: this.#pages.get(name)?.settled ?? 0, ...input })
  }

  /** Input between two link positions was lost, as far as the console knows. */
  dropped(from: number, to: number, mayHaveArrived: boolean): void {
    const left: Input[] = []
    for (const input of this.#onTheWay) {
      const first = Math.max(from, input.linkEnd - input.length)
      const last = Math.min(to, input.linkEnd)
      if (last < input.linkEnd || first >= last) left.push(input)
      const toPage = input.pageEnd - input.linkEnd
      if (first < last) this.#drop(input.page, first + toPage, last + toPage, mayHaveArrived)
    }
    this.#onTheWay = left
  }

  /** Reports to a returning page what became of its input. */
  catchUp(name: string): void {
    const page = this.#pages.get(name)
    if (!page) return
    for (const drop of page.drops.splice(0)) this.#notify(name, drop)
    this.#notify(name, { t: 'typed', n: page.settled })
  }

  #drop(name: string, from: number, to: number, mayHaveArrived: boolean): void {
    const notice: Dropped = { t: 'dropped', from, to, may_have_arrived: mayHaveArrived }
    const page = this.#page(name)
    const before = page.drops.at(-1)
    if (before?.to === from && before.may_have_arrived === mayHaveArrived) before.to = to
    else page.drops = [...page.drops, { ...notice }].slice(-maxDrops)
    this.#notify(name, notice)
  }

  #page(name: string): Page {
    let page = this.#pages.get(name)
    if (!page) {
      const [oldest] = this.#pages.keys()
      if (oldest !== undefined && this.#pages.size >= maxPages) this.#pages.delete(oldest)
      page = { received: 0, settled: 0, drops: [] }
      this.#pages.set(name, page)
    }
    return page
  }
}
