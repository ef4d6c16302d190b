import { characterWidth } from '#lib/terminal/xterm/widths.ts'
import { noStyle, styleAfter, type TextStyle } from './text-style.ts'

/** A run of text in one style. */
export interface Span {
  text: string
  style: TextStyle
}

/** A line without its end. Most lines have no style, and are kept as their text alone. */
export type ConsoleLine = string | readonly Span[]

export const plainLine = (line: ConsoleLine): string =>
  typeof line === 'string' ? line : line.map(({ text }) => text).join('')

export const lineLength = (line: ConsoleLine): number =>
  typeof line === 'string' ? line.length : line.reduce((sum, { text }) => sum + text.length, 0)

export const lineSpans = (line: ConsoleLine): readonly Span[] =>
  typeof line === 'string' ? [{ text: line, style: noStyle }] : line

/** Lines as one text, with a newline between them. */
export const joinLines = (lines: readonly ConsoleLine[]): Span[] => {
  const spans: Span[] = []
  const add = (span: Span) => {
    const last = spans.at(-1)
    if (last?.style === span.style) spans[spans.length - 1] = { ...last, text: last.text + span.text }
    else spans.push(span)
  }
  for (const [at, line] of lines.entries()) {
    if (at > 0) add({ text: '\n', style: noStyle })
    for (const span of lineSpans(line)) add(span)
  }
  return spans
}

/** The lines of a whole text that begins in a style, and the style in which it ends. */
export const readLines = (text: string, from = noStyle): { lines: ConsoleLine[]; style: TextStyle } => {
  const lines: ConsoleLine[] = []
  const reader = new ConsoleText(putInto(lines), { style: from })
  reader.write(text)
  reader.flush()
  return { lines, style: reader.style }
}

/** Stores a line: a new one after all others, where there is no place yet. Returns its place. */
type PutLine<Place> = (place: Place | undefined, line: ConsoleLine) => Place

export const putInto =
  (lines: ConsoleLine[]): PutLine<number> =>
  (at = lines.length, line) => {
    lines[at] = line
    return at
  }

/** How far right of its text a line may be written to; a terminal has an edge there. */
const maxGap = 512
/**
 * Cells that sequences may touch or make: so many, and more for each character of the text. A few bytes that ask for more
 * than that, again and again, would fill the memory or take hours.
 */
const freeCells = 1024 * 1024
const cellsPerCharacter = 32
/** A blank cell stays in memory, and so counts for more than one that is only touched. */
const blankCost = 8
const maxSequence = 256
const tabWidth = 8

type State = 'text' | 'escape' | 'csi' | 'string'

/**
 * Turns what a program writes into the lines that a terminal would show: carriage returns, backspaces and sequences that
 * erase or move within a line take effect, colors become styles, everything else that a terminal acts on is dropped. Lines
 * above are never changed: to move to another one begins a new line. A chunk costs its own length, and may end anywhere.
 */
export class ConsoleText<Place = number> {
  style: TextStyle
  readonly #put: PutLine<Place>
  #state: State = 'text'
  /** What has come of an escape or control sequence, after its beginning. */
  #sequence = ''
  /** The first half of a character whose second half has not come. */
  #half = ''
  #place: Place | undefined
  #isOpen = false
  /** Something has come since the open line was stored. */
  #isChanged = false
  /** The open line while it has only grown at its end. */
  #spans: Span[] = []
  /** A carriage return has come since: the next text overwrites them. */
  #isReturned = false
  /** The open line once it is overwritten, by cell: a character in its first one, '' in its others, undefined in blank ones. */
  #cells: (string | undefined)[] | undefined
  #styles: TextStyle[] = []
  #column = 0
  #saved = { column: 0, style: noStyle }
  #lastText = ''
  #cellsLeft = freeCells
  readonly #maxLineLength: number
  /** Characters cut off the beginning of lines that are too long. */
  dropped = 0

  constructor(put: PutLine<Place>, { style = noStyle, maxLineLength = Number.POSITIVE_INFINITY } = {}) {
    this.#put = put
    this.style = style
    this.#maxLineLength = maxLineLength
  }

  write(chunk: string): void {
    const text = this.#half + chunk
    this.#half = isFirstHalf(text.charCodeAt(text.length - 1)) ? text.slice(-1) : ''
    this.#cellsLeft += chunk.length * cellsPerCharacter
    this.#isChanged = true
    const end = text.length - this.#half.length
    let at = 0
    while (at < end) at = this.#state === 'text' ? this.#readText(text, at, end) : this.#readSequence(text, at)
  }

  /** Stores the open line as it is now. */
  flush(): void {
    if (!this.#isOpen || !this.#isChanged) return
    this.#isChanged = false
    let line = this.#line()
    const excess = lineLength(line) - this.#maxLineLength
    if (excess > 0) {
      this.#dropStart(excess)
      this.dropped += excess
      line = this.#line()
    }
    this.#place = this.#put(this.#place, line)
  }

  #dropStart(count: number): void {
    if (this.#cells) {
      this.#cells.splice(0, count)
      this.#styles.splice(0, count)
      this.#column = Math.max(0, this.#column - count)
      return
    }
    let left = count
    while (left > 0 && this.#spans[0]) {
      const { text, style } = this.#spans[0]
      if (text.length <= left) this.#spans.shift()
      else this.#spans[0] = { text: text.slice(left), style }
      left -= text.length
    }
  }

  #readText(text: string, at: number, end: number): number {
    controls.lastIndex = at
    const found = controls.exec(text)?.index ?? end
    if (found > at) this.#print(text.slice(at, found))
    if (found >= end) return end
    wholeStyle.lastIndex = found
    const style = wholeStyle.exec(text)?.[1]
    if (style === undefined) {
      this.#control(text[found] ?? '')
      return found + 1
    }
    this.style = styleAfter(this.style, style)
    return wholeStyle.lastIndex
  }

  #control(control: string): void {
    if (lineEnds.includes(control)) this.#newLine()
    else if (control === '\r') this.#moveTo(0)
    else if (control === '\b') this.#moveTo(this.#toColumn() - 1)
    else if (control === '\t') this.#tab()
    else if (control === '\x1b') this.#begin('escape')
    else if (control === '\x9b') this.#begin('csi')
    else if (stringBeginnings.includes(control)) this.#begin('string')
    else if (control === '\x8d') this.#otherLine(this.#toColumn())
    else if (!unseen.includes(control)) this.#print(signOf(control))
  }

  #begin(state: State): void {
    this.#state = state
    this.#sequence = ''
  }

  /** Reads one character of a sequence. A line never ends within one, or a sequence without an end would hide the rest. */
  #readSequence(text: string, at: number): number {
    const character = text[at] ?? ''
    if (character === '\n' || character === '\x18' || character === '\x1a') {
      this.#state = 'text'
      return character === '\n' ? at : at + 1
    }
    if (character === '\x1b') {
      this.#begin('escape')
      return at + 1
    }
    if (this.#state === 'string') {
      if (character === '\x07' || character === '\x9c') this.#state = 'text'
      else {
        stringEnds.lastIndex = at
        return stringEnds.exec(text)?.index ?? text.length
      }
      return at + 1
    }
    return this.#state === 'escape' ? this.#readEscape(character, at) : this.#readCsi(character, at)
  }

  #readEscape(character: string, at: number): number {
    if (this.#sequence === '') {
      if (character === '[') {
        this.#state = 'csi'
        return at + 1
      }
      if (']PX^_'.includes(character)) {
        this.#state = 'string'
        return at + 1
      }
    }
    if (character >= ' ' && character <= '/') {
      if (this.#sequence.length < maxSequence) this.#sequence += character
      return at + 1
    }
    this.#state = 'text'
    // Anything else is no sequence, and is text.
    if (character < '0' || character > '~') return at
    if (this.#sequence === '') this.#escape(character)
    return at + 1
  }

  #escape(final: string): void {
    if (final === 'D' || final === 'E') this.#newLine()
    else if (final === 'M') this.#otherLine(this.#toColumn())
    else if (final === '7') this.#save()
    else if (final === '8') this.#restore()
    else if (final === 'c') this.style = noStyle
  }

  #readCsi(character: string, at: number): number {
    if (character >= ' ' && character <= '?') {
      if (this.#sequence.length < maxSequence) this.#sequence += character
      return at + 1
    }
    // A terminal obeys other controls on the way.
    if (character < ' ') {
      this.#control(character)
      return at + 1
    }
    this.#state = 'text'
    if (character < '@' || character > '~') return at
    const parts = /^(\??)([\d;:]*)$/.exec(this.#sequence)
    if (parts && (parts[1] === '' || character === 'K' || character === 'J')) this.#csi(parts[2] ?? '', character)
    return at + 1
  }

  #csi(parameters: string, final: string): void {
    if (final === 'm') {
      this.style = styleAfter(this.style, parameters)
      return
    }
    const [first = 0, second = 0] = parameters.split(';').map((parameter) => Number(parameter) || 0)
    const count = first || 1
    switch (final) {
      case 'K':
      case 'J':
        this.#erase(first)
        break
      case 'G':
      case '`':
        this.#moveTo(count - 1)
        break
      case 'C':
      case 'a':
        this.#moveTo(this.#toColumn() + count)
        break
      case 'D':
        this.#moveTo(this.#toColumn() - count)
        break
      case 'I':
        this.#moveTo((Math.floor(this.#toColumn() / tabWidth) + count) * tabWidth)
        break
      case 'Z':
        this.#moveTo((Math.ceil(this.#toColumn() / tabWidth) - count) * tabWidth)
        break
      case 'X':
        this.#eraseCells(this.#toColumn(), this.#column + count)
        break
      case 'P':
        this.#deleteCells(count)
        break
      case '@':
        this.#insertCells(count)
        break
      case 'b':
        this.#repeat(count)
        break
      case 's':
        this.#save()
        break
      case 'u':
        this.#restore()
        break
      case 'A':
      case 'B':
      case 'd':
      case 'e':
        this.#otherLine(this.#toColumn())
        break
      case 'E':
      case 'F':
        this.#otherLine(0)
        break
      case 'H':
      case 'f':
        this.#otherLine((second || 1) - 1)
        break
    }
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

  #otherLine(column: number): void {
    if (this.#isOpen && lineLength(this.#line()) > 0) this.#newLine()
    this.#moveTo(column)
  }

  /** An empty line with the cursor at its start. */
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
    this.#lastText = text
    if (!this.#cells && (!this.#isReturned || this.#spans.length === 0)) {
      this.#isReturned = false
      const last = this.#spans.at(-1)
      if (last?.style === this.style) this.#spans[this.#spans.length - 1] = { ...last, text: last.text + text }
      else this.#spans.push({ text, style: this.style })
      return
    }
    this.#toColumn()
    this.#write(text, this.style)
  }

  /** The cursor's column. From here on the line is kept by cell. */
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

  /** Adds a character without width to the one before the cursor. */
  #join(character: string): void {
    const cells = this.#cells ?? []
    let at = this.#column - 1
    while (cells[at] === '') at--
    if (cells[at] !== undefined) cells[at] += character
  }

  /** Blanks between the end of the line and the cursor. */
  #fill(): void {
    const cells = this.#cells ?? []
    const gap = this.#blanks(this.#column - cells.length)
    for (let at = 0; at < gap; at++) cells.push(undefined)
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

  #tab(): void {
    const isAtEnd = this.#cells ? this.#column >= this.#cells.length : !this.#isReturned || this.#spans.length === 0
    if (isAtEnd) this.#print('\t')
    else this.#moveTo((Math.floor(this.#toColumn() / tabWidth) + 1) * tabWidth)
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

  /** Blanks cells, and the whole of each character that has one of them. */
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

  #deleteCells(count: number): void {
    const column = this.#toColumn()
    const cells = this.#cells ?? []
    this.#eraseCells(column, column + count)
    if (column >= cells.length || !this.#spend(cells.length - column)) return
    cells.splice(column, count)
    this.#styles.splice(column, count)
  }

  #insertCells(count: number): void {
    const column = this.#toColumn()
    const cells = this.#cells ?? []
    if (column >= cells.length || !this.#spend(cells.length - column)) return
    const blanks = this.#blanks(Math.min(count, maxGap))
    if (cells[column] === '') this.#eraseCells(column, column + 1)
    cells.splice(column, 0, ...Array<undefined>(blanks).fill(undefined))
    this.#styles.splice(column, 0, ...Array<TextStyle>(blanks).fill(noStyle))
  }

  #repeat(count: number): void {
    const character = [...this.#lastText.slice(-2)].at(-1)
    if (character !== undefined) this.#print(character.repeat(this.#blanks(Math.min(count, maxGap))))
  }

  #spend(cells: number): boolean {
    if (cells > this.#cellsLeft) return false
    this.#cellsLeft -= cells
    return true
  }

  /** How many of these blank cells may be made. */
  #blanks(count: number): number {
    return count > 0 && this.#spend(count * blankCost) ? count : 0
  }

  #save(): void {
    this.#saved = { column: this.#toColumn(), style: this.style }
  }

  #restore(): void {
    this.style = this.#saved.style
    this.#moveTo(this.#saved.column)
  }
}

const spansOfCells = (cells: readonly (string | undefined)[], styles: readonly TextStyle[]): Span[] => {
  let end = cells.length
  while (end > 0 && cells[end - 1] === undefined) end--
  const spans: Span[] = []
  for (let at = 0; at < end; ) {
    const first = at
    const isBlank = cells[at] === undefined
    const style = isBlank ? noStyle : (styles[at] ?? noStyle)
    do at++
    while (at < end && (cells[at] === undefined) === isBlank && (isBlank || styles[at] === style))
    const text = isBlank ? ' '.repeat(at - first) : cells.slice(first, at).join('')
    const last = spans.at(-1)
    if (last?.style === style) spans[spans.length - 1] = { text: last.text + text, style }
    else spans.push({ text, style })
  }
  return spans
}

const lineEnds = '\n\v\f\x84\x85'
/** DCS, SOS, OSC, PM and APC. */
const stringBeginnings = '\x90\x98\x9d\x9e\x9f'
/** ENQ, BEL, SO, SI, CAN, SUB and ST: a terminal does something at these and shows nothing. */
const unseen = '\x05\x07\x0e\x0f\x18\x1a\x9c'

const signOf = (control: string): string => {
  const code = control.charCodeAt(0)
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return code === 0x7f ? '\u2421' : control
}

const isFirstHalf = (code: number): boolean => code >= 0xd800 && code <= 0xdbff

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is searched for
const controls = /[\x00-\x1f\x7f-\x9f]/g
/** Most sequences are styles, and come whole: a shortcut past the states. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is searched for
const wholeStyle = /\x1b\[([\d;:]{0,250})m/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is searched for
const stringEnds = /[\n\x07\x18\x1a\x1b\x9c]/g
