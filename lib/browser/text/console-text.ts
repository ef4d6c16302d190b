import { characterWidth } from '#lib/terminal/xterm/widths.ts'
import { noStyle, styleAfter, type TextStyle } from './text-style.ts'

export interface Span {
  text: string
  style: TextStyle
}

/** Without its line break. A string if the whole line has no style. */
export type ConsoleLine = string | readonly Span[]

export const plainLine = (line: ConsoleLine): string =>
  typeof line === 'string' ? line : line.map(({ text }) => text).join('')

export const lineLength = (line: ConsoleLine): number =>
  typeof line === 'string' ? line.length : line.reduce((sum, { text }) => sum + text.length, 0)

export const lineSpans = (line: ConsoleLine): readonly Span[] =>
  typeof line === 'string' ? [{ text: line, style: noStyle }] : line

const addSpan = (spans: Span[], text: string, style: TextStyle) => {
  const last = spans.at(-1)
  if (last?.style === style) spans[spans.length - 1] = { text: last.text + text, style }
  else spans.push({ text, style })
}

export const joinLines = (lines: readonly ConsoleLine[]): Span[] => {
  const spans: Span[] = []
  for (const [at, line] of lines.entries()) {
    if (at > 0) addSpan(spans, '\n', noStyle)
    for (const { text, style } of lineSpans(line)) addSpan(spans, text, style)
  }
  return spans
}

export const readLines = (text: string, from = noStyle): { lines: ConsoleLine[]; style: TextStyle } => {
  const lines: ConsoleLine[] = []
  const reader = new ConsoleText(storeIn(lines), { style: from })
  reader.write(text)
  reader.flush()
  return { lines, style: reader.style }
}

/** Stores a line, appending it if `place` is undefined. Returns its place. */
type PutLine<Place> = (place: Place | undefined, line: ConsoleLine) => Place

export const storeIn =
  (lines: ConsoleLine[]): PutLine<number> =>
  (at = lines.length, line) => {
    lines[at] = line
    return at
  }

/** Furthest column the cursor may move to beyond the text. */
const maxGap = 512
/** Cells that escape sequences may touch. Without this budget a few repeated bytes could fill the memory or take hours. */
const freeCells = 1024 * 1024
const cellsPerCharacter = 32
/** A created cell stays in memory, so it costs more than a touched one. */
const blankCost = 8
const maxSequence = 256
const tabWidth = 8

/** Converts output to the lines a terminal would show. Sequences that edit earlier lines are dropped. */
export class ConsoleText<Place = number> {
  style: TextStyle
  readonly #put: PutLine<Place>
  /** An unfinished escape sequence, or half of a surrogate pair. */
  #rest = ''
  /** Within an OSC, DCS or similar string, which is dropped. */
  #isInString = false
  #place: Place | undefined
  #isOpen = false
  #isChanged = false
  /** The open line while it has only been appended to. */
  #spans: Span[] = []
  /** After a carriage return, the next text overwrites the line. */
  #isReturned = false
  /** The open line by cell once overwritten: a character, '' for the rest of a wide one, undefined for blank. */
  #cells: (string | undefined)[] | undefined
  #styles: TextStyle[] = []
  #column = 0
  #saved = { column: 0, style: noStyle }
  #cellsLeft = freeCells
  readonly #maxLineLength: number
  /** Characters cut from the start of lines over the limit. */
  dropped = 0

  constructor(put: PutLine<Place>, { style = noStyle, maxLineLength = Number.POSITIVE_INFINITY } = {}) {
    this.#put = put
    this.style = style
    this.#maxLineLength = maxLineLength
  }

  write(chunk: string): void {
    const text = this.#rest + chunk
    const half = /[\uD800-\uDBFF]$/.test(text) ? text.slice(-1) : ''
    const end = text.length - half.length
    this.#rest = ''
    this.#cellsLeft += chunk.length * cellsPerCharacter
    this.#isChanged = true
    let at = 0
    while (at < end) at = this.#isInString ? this.#skipString(text, at) : this.#readToken(text, at, end)
    this.#rest += half
  }

  flush(): void {
    if (!this.#isOpen || !this.#isChanged) return
    this.#isChanged = false
    let line = this.#line()
    const excess = lineLength(line) - this.#maxLineLength
    if (excess > 0) {
      this.#dropStart(lineSpans(line), excess)
      this.dropped += excess
      line = this.#line()
    }
    this.#place = this.#put(this.#place, line)
  }

  #dropStart(spans: readonly Span[], count: number): void {
    this.#clear()
    let left = count
    for (const { text, style } of spans) {
      if (left < text.length) this.#spans.push({ text: text.slice(left), style })
      left = Math.max(0, left - text.length)
    }
  }

  #readToken(text: string, at: number, end: number): number {
    token.lastIndex = at
    const [all = '', plain, parameters = '', final, string, partial, sequence] = token.exec(text) ?? []
    if (plain) this.#print(all.slice(0, end - at))
    else if (final) this.#csi(parameters, final)
    else if (string) this.#isInString = true
    else if (sequence) this.#escape(sequence)
    else if (partial === undefined) this.#control(all)
    // An invalid sequence is dropped, an unfinished one may go on in the next chunk.
    else if (at + all.length === end && all.length <= maxSequence) this.#rest = all
    return at + all.length
  }

  /** A line break also ends a string; an unterminated one would hide the rest. */
  #skipString(text: string, at: number): number {
    stringEnds.lastIndex = at
    const found = stringEnds.exec(text)
    if (!found) return text.length
    this.#isInString = false
    return found[0] === '\n' || found[0] === '\x1b' ? found.index : found.index + 1
  }

  #control(control: string): void {
    if (lineEnds.includes(control)) this.#newLine()
    else if (control === '\r') this.#moveTo(0)
    else if (control === '\b') this.#moveTo(this.#toColumn() - 1)
    else if (control === '\x8d') this.#leaveLine(this.#toColumn())
    else if (!ignored.includes(control)) this.#print(controlPicture(control))
  }

  #escape(final: string): void {
    if (final === 'D' || final === 'E') this.#newLine()
    else if (final === 'M') this.#leaveLine(this.#toColumn())
    else if (final === '7') this.#save()
    else if (final === '8') this.#restore()
    else if (final === 'c') this.style = noStyle
  }

  #csi(text: string, final: string): void {
    const [, mark, parameters = ''] = /^(\??)([\d;:]*)$/.exec(text) ?? []
    if (mark === undefined || (mark !== '' && final !== 'K' && final !== 'J')) return
    const [first = 0, second = 0] = parameters.split(';').map((parameter) => Number(parameter) || 0)
    const count = first || 1
    if (final === 'm') this.style = styleAfter(this.style, parameters)
    else if (final === 'K' || final === 'J') this.#erase(first)
    else if (final === 'G' || final === '`') this.#moveTo(count - 1)
    else if (final === 'C' || final === 'a') this.#moveTo(this.#toColumn() + count)
    else if (final === 'D') this.#moveTo(this.#toColumn() - count)
    else if (final === 'X') this.#eraseCells(this.#toColumn(), this.#column + count)
    else if (final === 's') this.#save()
    else if (final === 'u') this.#restore()
    else if ('ABde'.includes(final)) this.#leaveLine(this.#toColumn())
    else if (final === 'E' || final === 'F') this.#leaveLine(0)
    else if (final === 'H' || final === 'f') this.#leaveLine((second || 1) - 1)
  }

  #open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    this.#isChanged = true
    this.#place = this.#put(undefined, '')
  }

  #newLine(): void {
    this.#open()
    this.flush()
    this.#isOpen = false
    this.#place = undefined
    this.#clear()
  }

  #leaveLine(column: number): void {
    if (this.#isOpen && lineLength(this.#line()) > 0) this.#newLine()
    this.#moveTo(column)
  }

  #clear(): void {
    this.#spans = []
    this.#isReturned = false
    this.#cells = undefined
    this.#styles = []
    this.#column = 0
  }

  #line(): ConsoleLine {
    const spans = this.#cells ? spansOfCells(this.#cells, this.#styles) : this.#spans
    if (spans.length === 0) return ''
    const [only] = spans
    return spans.length === 1 && only?.style === noStyle ? only.text : [...spans]
  }

  #print(text: string): void {
    this.#open()
    if (!this.#cells && (!this.#isReturned || this.#spans.length === 0)) {
      this.#isReturned = false
      addSpan(this.#spans, text, this.style)
      return
    }
    this.#toColumn()
    this.#write(text, this.style)
  }

  /** Switches the line to cells and returns the cursor's column. */
  #toColumn(): number {
    if (this.#cells) return this.#column
    const spans = this.#spans
    const isReturned = this.#isReturned
    this.#clear()
    this.#cells = []
    for (const { text, style } of spans) this.#write(text, style)
    if (isReturned) this.#column = 0
    return this.#column
  }

  #write(text: string, style: TextStyle): void {
    for (const character of text) {
      if (character === '\t') this.#writeCell(character, tabWidth - (this.#column % tabWidth), style)
      else {
        const width = characterWidth(character.codePointAt(0) ?? 0)
        if (width > 0) this.#writeCell(character, width, style)
        else this.#join(character)
      }
    }
  }

  #writeCell(character: string, width: number, style: TextStyle): void {
    const cells = this.#cells ?? []
    this.#fill()
    this.#eraseCells(this.#column, this.#column + width)
    for (let offset = 0; offset < width; offset++) {
      cells[this.#column + offset] = offset === 0 ? character : ''
      this.#styles[this.#column + offset] = style
    }
    this.#column += width
  }

  /** Combines a zero-width character with the one before the cursor. */
  #join(character: string): void {
    const cells = this.#cells ?? []
    let at = this.#column - 1
    while (cells[at] === '') at--
    if (cells[at] !== undefined) cells[at] += character
  }

  #fill(): void {
    const cells = this.#cells ?? []
    const gap = this.#column - cells.length
    if (gap > 0 && this.#spend(gap * blankCost)) cells.length = this.#column
    this.#column = Math.min(this.#column, cells.length)
  }

  #moveTo(column: number): void {
    if (column <= 0 && !this.#cells) {
      this.#isReturned = true
      return
    }
    const edge = Math.max(this.#toColumn(), this.#cells?.length ?? 0, maxGap)
    this.#column = Math.max(0, Math.min(column, edge))
  }

  /** 0: from the cursor on, 1: up to the cursor, 2: the whole line. */
  #erase(part: number): void {
    if (!this.#isOpen || part > 2 || (!this.#cells && part === 0 && !this.#isReturned)) return
    if (part !== 1 && this.#isReturned) {
      this.#clear()
      return
    }
    const column = this.#toColumn()
    this.#eraseCells(part === 0 ? column : 0, part === 1 ? column + 1 : Number.POSITIVE_INFINITY)
    if (this.#cells?.length === 0 && column === 0) this.#clear()
  }

  /** Also erases the other half of a wide character. */
  #eraseCells(from: number, to: number): void {
    const cells = this.#cells ?? []
    let first = Math.min(from, cells.length)
    while (first > 0 && cells[first] === '') first--
    let end = Math.min(to, cells.length)
    while (cells[end] === '') end++
    if (end < cells.length) {
      if (this.#spend(end - first)) cells.fill(undefined, first, end)
    } else if (first < end) {
      cells.length = first
      this.#styles.length = first
    }
  }

  #save(): void {
    this.#saved = { column: this.#toColumn(), style: this.style }
  }

  #restore(): void {
    this.style = this.#saved.style
    this.#moveTo(this.#saved.column)
  }

  #spend(cells: number): boolean {
    if (cells > this.#cellsLeft) return false
    this.#cellsLeft -= cells
    return true
  }
}

const spansOfCells = (cells: readonly (string | undefined)[], styles: readonly TextStyle[]): Span[] => {
  const spans: Span[] = []
  const last = cells.findLastIndex((cell) => cell !== undefined)
  for (let at = 0; at <= last; at++) {
    const isBlank = cells[at] === undefined
    addSpan(spans, cells[at] ?? ' ', (isBlank ? undefined : styles[at]) ?? noStyle)
  }
  return spans
}

const lineEnds = '\n\v\f\x84\x85'
/** ENQ, BEL, SO, SI, CAN, SUB and ST. */
const ignored = '\x05\x07\x0e\x0f\x18\x1a\x9c'

const controlPicture = (control: string): string => {
  const code = control.charCodeAt(0)
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return code === 0x7f ? '\u2421' : control
}

/** Text, a control sequence, the start of a string, an incomplete or invalid sequence, an escape sequence, or a control. */
const token =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: searches for control characters
  /([^\x00-\x08\x0a-\x1f\x7f-\x9f]+)|(?:\x1b\[|\x9b)([ -?]*)([@-~\x18\x1a])|(\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])|((?:\x1b\[|\x9b)[ -?]*|\x1b[ -/]*(?![ -~]))|\x1b([ -/]*[0-~])|[\s\S]/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: searches for control characters
const stringEnds = /[\n\x07\x18\x1a\x1b\x9c]/g
