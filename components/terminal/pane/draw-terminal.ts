import { FitAddon } from '@xterm/addon-fit'
import { UnicodeGraphemesAddon } from '@xterm/addon-unicode-graphemes'
import { Terminal } from '@xterm/xterm'
import { restoreColoursSetBefore } from '#lib/terminal/page/colours.ts'
import { type TerminalSettings, terminalSettings } from '#lib/terminal/page/settings.ts'
import { boundXterm } from '#lib/terminal/xterm/bounds.ts'
import { joinLigatures } from './ligatures.ts'
import { TerminalRenderer } from './renderer.ts'
import { applyOptions, lessMotion, terminalOptions } from './terminal-options.ts'
import { onThemeChange } from './terminal-theme.ts'

export interface DrawnTerminal {
  terminal: Terminal
  /** How many cells its element has room for; a hidden element has none. */
  room(): { cols: number; rows: number } | undefined
  /** Has `changed` called when cells have another size, so that there is room for another number of them. */
  onCells(changed: () => void): void
  close(): void
}

/** Draws a terminal into `element`, as the settings say and as they change. */
export const drawTerminal = async (element: HTMLElement): Promise<DrawnTerminal> => {
  const settings = terminalSettings.get()
  const surroundings = followTheme(element)
  const options = terminalOptions(settings, element)
  // Cells are measured once: with the wrong font in them, every column would be off.
  const font = `${options.fontSize}px ${options.fontFamily}`
  if (!document.fonts.check(font)) await document.fonts.load(font).catch(() => undefined)
  const terminal = new Terminal({
    ...options,
    allowProposedApi: true,
    // Where a program has the mouse, this is the only way to select on a Mac.
    macOptionClickForcesSelection: true,
    rescaleOverlappingGlyphs: true,
    // Where full-screen programs leave the title of the shell while they show their own.
    windowOptions: { pushTitle: true, popTitle: true },
    // What it would complain of is text of a devbox.
    logLevel: 'off',
    // A link that nothing handles yet leads nowhere.
    linkHandler: { activate: () => undefined },
  })
  const fitAddon = new FitAddon()
  terminal.loadAddon(fitAddon)
  // The console's own terminal counts the cells of a character like this, too, or their screens would differ.
  terminal.loadAddon(new UnicodeGraphemesAddon())
  boundXterm(terminal)
  restoreColoursSetBefore(terminal)
  terminal.open(element)

  const listeners: (() => void)[] = []
  const cellsChanged = () => {
    for (const listener of listeners) listener()
  }
  const renderer = new TerminalRenderer(terminal, element, cellsChanged)
  const ligatures = followLigatures(terminal, element)
  const apply = () => {
    const next = terminalSettings.get()
    surroundings.update()
    if (applyOptions(terminal, terminalOptions(next, element))) cellsChanged()
    ligatures.update()
    void renderer.choose(next.renderer)
  }
  const stops = [terminalSettings.subscribe(apply), onThemeChange(apply), onMotionChange(apply)]
  ligatures.update()
  await renderer.choose(settings.renderer)
  return {
    terminal,
    room: () => (element.clientWidth > 0 && element.clientHeight > 0 ? fitAddon.proposeDimensions() : undefined),
    onCells: (changed) => void listeners.push(changed),
    close() {
      for (const stop of stops) stop()
      renderer.dispose()
      terminal.dispose()
      surroundings.end()
    },
  }
}

/** What surrounds the screen, and lies over it, has its colours, also where those are not the page's. */
const followTheme = (element: HTMLElement) => {
  const room = element.parentElement ?? element
  const show = (theme: TerminalSettings['theme']) => {
    if (theme === 'app') delete room.dataset.theme
    else room.dataset.theme = theme
    room.classList.toggle('bg-surface-0', theme !== 'app')
    room.classList.toggle('text-text', theme !== 'app')
  }
  show(terminalSettings.get().theme)
  return { update: () => show(terminalSettings.get().theme), end: () => show('app') }
}

const followLigatures = (terminal: Terminal, element: HTMLElement) => {
  let stop: (() => void) | undefined
  return {
    update() {
      const { ligatures } = terminalSettings.get()
      element.toggleAttribute('data-ligatures', ligatures)
      if (ligatures) stop ??= joinLigatures(terminal)
      else {
        stop?.()
        stop = undefined
      }
    },
  }
}

const onMotionChange = (changed: () => void): (() => void) => {
  const motion = matchMedia(lessMotion)
  motion.addEventListener('change', changed)
  return () => motion.removeEventListener('change', changed)
}
