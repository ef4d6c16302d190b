import type { ILinkProvider } from '@xterm/xterm'

/** Private parts of the pinned xterm, for both builds. All access to them goes through this file. */

/** Packed colors and flags of a cell, the pen or a saved cursor. */
export interface Attributes {
  fg: number
  bg: number
  extended: ExtendedAttributes
}

export interface ExtendedAttributes {
  _ext: number
  urlId: number
  clone(): ExtendedAttributes
}

/** Three numbers per cell: content, foreground, background. */
export interface Line {
  _data: Uint32Array
  _combined: Record<number, string>
  _extendedAttrs: Record<number, ExtendedAttributes | undefined>
  isWrapped: boolean
  length: number
  getWidth(at: number): number
  hasContent(at: number): number
  addCodepointToCell(at: number, code: number, width: number): void
  translateToString(trimRight: boolean): string
}

type Listen<T> = (listener: (event: T) => void) => { dispose(): void }

export interface Lines {
  length: number
  maxLength: number
  get(index: number): Line | undefined
  push(line: Line): void
  trimStart(count: number): void
  onTrim: Listen<number>
  onInsert: Listen<{ index: number; amount: number }>
  onDelete: Listen<{ index: number; amount: number }>
}

export type Charset = Record<string, string> | undefined

export interface Screen {
  lines: Lines
  x: number
  y: number
  ybase: number
  ydisp: number
  scrollTop: number
  scrollBottom: number
  tabs: Record<number, boolean | undefined>
  savedX: number
  savedY: number
  savedCurAttrData: { fg: number; bg: number }
  savedCharset: Charset
  getBlankLine(attributes: { fg: number; bg: number }): Line
}

export interface CharacterProvider {
  readonly version: string
  wcwidth(code: number): 0 | 1 | 2
  charProperties(code: number, preceding: number): number
}

interface Params {
  params: Int32Array
  length: number
}

export interface OscHandler {
  start(): void
  put(data: Uint32Array, start: number, end: number): void
  end(isComplete: boolean): boolean
}

interface Parser {
  currentState: number
  precedingJoinState: number
  clearOscHandler(code: number): void
  registerOscHandler(code: number, handler: OscHandler): void
  clearDcsHandler(id: { intermediates?: string; final: string }): void
}

export interface Core {
  cols: number
  rows: number
  buffers: { normal: Screen; alt: Screen; active: Screen }
  options: { scrollback: number; convertEol: boolean }
  coreService: {
    modes: { insertMode: boolean }
    decPrivateModes: {
      applicationCursorKeys: boolean
      applicationKeypad: boolean
      bracketedPasteMode: boolean
      cursorBlink: boolean | undefined
      cursorStyle: 'block' | 'underline' | 'bar' | undefined
      origin: boolean
      reverseWraparound: boolean
      sendFocus: boolean
      wraparound: boolean
    }
    isCursorHidden: boolean
  }
  coreMouseService: {
    activeProtocol: string
    activeEncoding: string
  }
  unicodeService: { charProperties(code: number, preceding: number): number; _activeProvider: CharacterProvider }
  _charsetService: { charset: Charset; glevel: number; _charsets: Charset[] }
  _inputHandler: {
    _parser: Parser
    _curAttrData: Attributes & { updateExtended(): void }
    _windowTitle: string
    _iconName: string
    _windowTitleStack: string[]
    _iconNameStack: string[]
    print(data: Uint32Array, start: number, end: number): void
    carriageReturn(): void
    lineFeed(): void
    resetModePrivate(modes: Params): void
    softReset(params: Params): void
    setTitle(text: string): void
    setIconName(text: string): void
    /** Parses synchronously, unlike `Terminal.write`. */
    parse(data: Uint8Array): void
    /** Receives the original parameters, not a copy as with `Terminal.parser`. */
    registerCsiHandler(
      id: { prefix?: string; intermediates?: string; final: string },
      handler: (params: Params) => boolean,
    ): void
  }
  /** In browsers only. */
  _linkProviderService?: { linkProviders: readonly ILinkProvider[] }
  onData: Listen<string>
  resize(cols: number, rows: number): void
  dispose(): void
}

export const internalsOf = (terminal: object): Core => (terminal as { _core: Core })._core

export const linkProvidersOf = (terminal: object): readonly ILinkProvider[] =>
  internalsOf(terminal)._linkProviderService?.linkProviders ?? []
