import { describe, expect, it } from 'vitest'
import { workspaceMove } from './keys.ts'

const press = (key: string, code = key, more: object = {}) =>
  workspaceMove({ key, code, ctrlKey: true, shiftKey: true, altKey: false, metaKey: false, ...more })

describe('workspaceMove', () => {
  it('moves between panes and tabs', () => {
    expect(press('ArrowLeft')).toEqual({ kind: 'go', direction: 'left' })
    expect(press('ArrowDown')).toEqual({ kind: 'go', direction: 'down' })
    expect(press('!', 'Digit1')).toEqual({ kind: 'tab', index: 0 })
    expect(press('(', 'Digit8')).toEqual({ kind: 'tab', index: 7 })
    expect(press(')', 'Digit9')).toBe(null)
  })

  it('opens tabs and splits', () => {
    expect(press('Enter')).toEqual({ kind: 'new-tab' })
    expect(press('E', 'KeyE')).toEqual({ kind: 'split', way: 'right' })
    expect(press('O', 'KeyO')).toEqual({ kind: 'split', way: 'down' })
    expect(press('Z', 'KeyZ')).toEqual({ kind: 'maximize' })
  })

  it('ignores everything without Ctrl+Shift', () => {
    for (const [key, code] of [
      ['ArrowLeft', 'ArrowLeft'],
      ['1', 'Digit1'],
      ['Enter', 'Enter'],
      ['e', 'KeyE'],
    ] as const)
      for (const more of [{ ctrlKey: false }, { shiftKey: false }, { altKey: true }, { metaKey: true }])
        expect(press(key, code, more)).toBe(null)
  })

  it('leaves the keys for leaving, copying, pasting and searching', () => {
    for (const letter of ['X', 'C', 'V', 'F', 'G']) expect(press(letter, `Key${letter}`)).toBe(null)
    expect(press('_', 'Minus')).toBe(null)
    expect(press('+', 'Equal')).toBe(null)
  })
})
