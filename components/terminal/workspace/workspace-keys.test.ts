import { describe, expect, it } from 'vitest'
import { workspaceMove } from './workspace-keys.ts'

const press = (key: string, code = key, more: object = {}) =>
  workspaceMove({ key, code, ctrlKey: true, shiftKey: true, altKey: false, metaKey: false, ...more })

describe('workspaceMove', () => {
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
})
