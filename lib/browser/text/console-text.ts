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

/** Reads a whole text; returns its lines and the style at its end. */
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
/**
 * Budget of cells that escape sequences may touch or create, growing with the text. Without it a few repeated bytes could
 * fill the memory or take hours.
 */
const freeCells = 1024 * 1024
const cellsPerCharacter = 32
/** A created cell stays in memory, so it costs more than a touched one. */
const blankCost = 8
const maxSequence = 256
const tabWidth = 8

type State = 'text' | 'escape' | 'csi' | 'string'

/**
 * Converts program output to the lines a terminal would show. Carriage returns, backspaces and sequences that edit the
 * current line take effect, colors become styles, and all other control sequences are dropped. Earlier lines never change:
 * moving to another line starts a new one. Chunks may end anywhere.
 */
export class ConsoleText<Place = number> {
  style: TextStyle
  readonly #put: PutLine<Place>
  #state: State = 'text'
  /** The characters so far of an unfinished escape sequence. */
  #sequence = ''
  /** A high surrogate whose low surrogate hasn't arrived. */
  #half = ''
  #place: Place | undefined
  #isOpen = false
  /** Changed since the open line was last stored. */
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
  #lastText = ''
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
    const text = this.#half + chunk
    this.#half = isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.slice(-1) : ''
    this.#cellsLeft += chunk.length * cellsPerCharacter
    this.#isChanged = true
    const end = text.length - this.#half.length
    let at = 0
    while (at < end) at = this.#state === 'text' ? this.#readText(text, at, end) : this.#readSequence(text, at)
  }

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
    else if (control === '\x1b') this.#enter('escape')
    else if (control === '\x9b') this.#enter('csi')
    else if (stringStarts.includes(control)) this.#enter('string')
    else if (control === '\x8d') this.#leaveLine(this.#toColumn())
    else if (!ignored.includes(control)) this.#print(controlPicture(control))
  }

  #enter(state: State): void {
    this.#state = state
    this.#sequence = ''
  }

  /** A line break ends any sequence; an unterminated one would otherwise hide the rest. */
  #readSequence(text: string, at: number): number {
    const character = text[at] ?? ''
    if (character === '\n' || character === '\x18' || character === '\x1a') {
      this.#state = 'text'
      return character === '\n' ? at : at + 1
    }
    if (character === '\x1b') {
      this.#enter('escape')
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
    // Not a valid sequence, so this character is text.
    if (character < '0' || character > '~') return at
    if (this.#sequence === '') this.#escape(character)
    return at + 1
  }

  #escape(final: string): void {
    if (final === 'D' || final === 'E') this.#newLine()
    else if (final === 'M') this.#leaveLine(this.#toColumn())
    else if (final === '7') this.#save()
    else if (final === '8') this.#restore()
    else if (final === 'c') this.style = noStyle
  }

  #readCsi(character: string, at: number): number {
    if (character >= ' ' && character <= '?') {
      if (this.#sequence.length < maxSequence) this.#sequence += character
      return at + 1
    }
    // Terminals execute control characters within a sequence.
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
        this.#leaveLine(this.#toColumn())
        break
      case 'E':
      case 'F':
        this.#leaveLine(0)
        break
      case 'H':
      case 'f':
        this.#leaveLine((second || 1) - 1)
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
    const gap = this.#allowedBlanks(this.#column - cells.length)
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
    const blanks = this.#allowedBlanks(Math.min(count, maxGap))
    if (cells[column] === '') this.#eraseCells(column, column + 1)
    cells.splice(column, 0, ...Array<undefined>(blanks).fill(undefined))
    this.#styles.splice(column, 0, ...Array<TextStyle>(blanks).fill(noStyle))
  }

  #repeat(count: number): void {
    const character = [...this.#lastText.slice(-2)].at(-1)
    if (character !== undefined) this.#print(character.repeat(this.#allowedBlanks(Math.min(count, maxGap))))
  }

  #spend(cells: number): boolean {
    if (cells > this.#cellsLeft) return false
    this.#cellsLeft -= cells
    return true
  }

  /** Returns `count`, or 0 if the budget doesn't allow it. */
  #allowedBlanks(count: number): number {
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
const stringStarts = '\x90\x98\x9d\x9e\x9f'
/** ENQ, BEL, SO, SI, CAN, SUB and ST. */
const ignored = '\x05\x07\x0e\x0f\x18\x1a\x9c'

const controlPicture = (control: string): string => {
  const code = control.charCodeAt(0)
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return code === 0x7f ? '\u2421' : control
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff

// biome-ignore lint/suspicious/noControlCharactersInRegex: searches for control characters
const controls = /[\x00-\x1f\x7f-\x9f]/g
/** A fast path, since most sequences are complete styles. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: searches for control characters
const wholeStyle = /\x1b\[([\d;:]{0,250})m/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: searches for control characters
const stringEnds = /[\n\x07\x18\x1a\x1b\x9c]/g
