import { afterEach, describe, expect, it } from 'vitest'
import {
  chosenKeys,
  combinationOf,
  defaultShortcuts,
  keyCaps,
  shortcutProblem,
  shortcutText,
  terminalActionOf,
} from './shortcuts.ts'

const press = (key: string, held = '', code = '') => ({
  key,
  code,
  ctrlKey: held.includes('c'),
  altKey: held.includes('a'),
  shiftKey: held.includes('s'),
  metaKey: held.includes('m'),
})
const keysOf = (...pressed: Parameters<typeof press>) => combinationOf(press(...pressed))

describe('combinationOf', () => {
  it('names what is pressed', () => {
    expect(keysOf('k', 'c')).toBe('ctrl+k')
    expect(keysOf('F', 'cs', 'KeyF')).toBe('ctrl+shift+f')
    expect(keysOf('?', 's', 'Slash')).toBe('?')
    expect(keysOf('X', 's', 'KeyX')).toBe('shift+x')
    expect(keysOf('ArrowUp', 'cs')).toBe('ctrl+shift+arrowup')
    expect(keysOf(' ', 'c')).toBe('ctrl+space')
    expect(keysOf('F3', 's')).toBe('shift+f3')
    expect(keysOf('Shift', 's')).toBeNull()
  })

  it('is the same on other layouts', () => {
    expect(keysOf('А', 'cs', 'KeyF')).toBe('ctrl+shift+f')
    expect(keysOf('ƒ', 'a', 'KeyF')).toBe('alt+f')
    // Dvorak: the typed letter counts, not the position of the key.
    expect(keysOf('u', 'c', 'KeyF')).toBe('ctrl+u')
    expect(keysOf('!', 'cs', 'Digit1')).toBe('ctrl+shift+1')
    expect(['=', '+'].map((key) => keysOf(key, 'c'))).toEqual(['ctrl+plus', 'ctrl+plus'])
    expect(keysOf('_', 'cs')).toBe('ctrl+shift+_')
  })
})

describe('the keys of the terminal', () => {
  afterEach(() => chosenKeys.save({}))

  it('are read from the table', () => {
    expect(terminalActionOf(press('F', 'cs', 'KeyF'))).toBe('terminal.find')
    expect(terminalActionOf(press('f', 'c', 'KeyF'))).toBeNull()
    expect(terminalActionOf(press('k', 'c', 'KeyK'))).toBeNull()
  })
})

describe('shortcutProblem', () => {
  const shortcuts = [
    ...defaultShortcuts(false),
    { id: 'go /', label: 'Go to Overview', scope: 'console' as const, keys: 'g o' },
  ]
  const problem = (id: string, keys: string) => {
    const shortcut = shortcuts.find((each) => each.id === id)
    if (!shortcut) throw new Error(id)
    const others = shortcuts.filter((each) => each !== shortcut)
    return shortcutProblem(keys, shortcut, others, false)
  }

  it('accepts every default', () => {
    for (const mac of [false, true]) {
      const all = defaultShortcuts(mac)
      for (const shortcut of all) {
        const others = all.filter((each) => each !== shortcut)
        expect(shortcutProblem(shortcut.keys, shortcut, others, mac), `${shortcut.id} ${mac}`).toBeNull()
      }
    }
  })

  it('names the action that has the keys', () => {
    expect(problem('list.next', 'k')).toBe('Used by “Previous row” (k)')
    expect(problem('list.next', '?')).toBe('Used by “Show keyboard shortcuts” (?)')
    expect(problem('terminal.find', 'ctrl+shift+e')).toBe('Used by “Split right” (Ctrl+Shift+E)')
    // `g` would end the wait for `g o`, and `g o` can't follow a `g` that acts.
    expect(problem('list.next', 'g')).toBe('Used by “Go to Overview” (g o)')
    expect(problem('list.next', 'k o')).toBe('Used by “Previous row” (k)')
    // Rows of lists and steps of a comparison are never on one page.
    expect(problem('list.next', 'n')).toBeNull()
  })

  it('refuses keys used by the browser, the shell or typing, with the reason', () => {
    expect(problem('list.next', 'ctrl+t')).toBe('The browser uses Ctrl+T: new tab')
    expect(problem('help.open', 'ctrl+c')).toBe('Ctrl+C edits text')
    expect(problem('terminal.find', 'ctrl+r')).toBe('The browser uses Ctrl+R: reload')
    expect(problem('terminal.find', 'ctrl+g')).toBe('Ctrl+G is sent to the shell. Add Shift')
    expect(problem('terminal.find', 'alt+g')).toBe('Alt+G is sent to the shell. Use Ctrl and Shift')
    expect(problem('terminal.find', 'ctrl+shift+3')).toBe('Ctrl+Shift+3 shows the tab at that position')
    expect(problem('terminal.find', 'q')).toBe('Keys without Ctrl, Alt or Command are typed into the terminal')
    expect(problem('list.next', 'enter')).toMatch(/^Enter already/)
    expect(problem('list.next', 'ctrl+alt+q')).toMatch(/type characters/)
  })
})

it('shows keys as key caps', () => {
  expect(keyCaps('ctrl+shift+f', false)).toEqual(['Ctrl', 'Shift', 'F'])
  expect(keyCaps('shift+meta+g', true)).toEqual(['⇧', '⌘', 'G'])
  expect(keyCaps('g d', false)).toEqual(['g', 'd'])
  expect(keyCaps('ctrl+-', false)).toEqual(['Ctrl', '−'])
  expect(shortcutText('ctrl+arrowup')).toBe('Ctrl+↑')
})
