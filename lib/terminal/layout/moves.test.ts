import { describe, expect, it } from 'vitest'
import { formatLayout, parseLayout, singleTab, type TerminalLayout } from './layout.ts'
import * as moves from './moves.ts'

const changed = (text: string, change: (layout: TerminalLayout) => TerminalLayout) =>
  formatLayout(change(parseLayout(text).layout))

describe('a layout changes:', () => {
  it('opens a new tab next to the visible one', () => {
    expect(changed('a,b', (it) => moves.openTab(it, singleTab('c')))).toBe('a,@c,b')
    expect(changed('a.b,@c', (it) => moves.openTab(it, singleTab('b')))).toBe('a.@b,c')
  })

  it('halves the pane and focuses the new one', () => {
    expect(changed('a', (it) => moves.splitPane(it, 'a', 'right', 'b'))).toBe('a.@b')
    expect(changed('a.b', (it) => moves.splitPane(it, 'b', 'right', 'c'))).toBe('a*50.b*25.@c')
    expect(changed('a.b', (it) => moves.splitPane(it, 'b', 'down', 'c'))).toBe('a.(b/@c)')
    expect(changed('a*70.b', (it) => moves.splitPane(it, 'a', 'down', 'c'))).toBe('(a/@c)*70.b')
    expect(changed('a,b', (it) => moves.splitPane(it, 'a', 'down', 'b'))).toBe('a,@b')
    expect(changed('a', (it) => moves.splitPane(it, 'x', 'down', 'b'))).toBe('a')
  })

  it("gives a closed pane's space and focus to its neighbor", () => {
    expect(changed('a.b', (it) => moves.closePane(it, 'a'))).toBe('b')
    expect(changed('a.@b.c', (it) => moves.closePane(it, 'b'))).toBe('a.c')
    expect(changed('@a.b', (it) => moves.closePane(it, 'a'))).toBe('b')
    expect(changed('a.(b/@c)', (it) => moves.closePane(it, 'c'))).toBe('a.@b')
    expect(changed('a.@(b/c)', (it) => moves.closePane(it, 'a'))).toBe('b/c')
    expect(changed('a,b.c', (it) => moves.closePane(it, 'a'))).toBe('b.c')
    expect(changed('a', (it) => moves.closePane(it, 'a'))).toBe('a')
    expect(changed('a,b', (it) => moves.closePane(it, 'x'))).toBe('a,b')
  })

  it('shows the next tab after closing one', () => {
    expect(changed('a,@b,c', (it) => moves.closeTab(it, 1))).toBe('a,@c')
    expect(changed('a,b,@c', (it) => moves.closeTab(it, 2))).toBe('a,@b')
    expect(changed('a,@b,c', (it) => moves.closeTab(it, 0))).toBe('b,c')
    expect(changed('a,@b,c', (it) => moves.closeTab(it, 2))).toBe('a,@b')
    expect(changed('a', (it) => moves.closeTab(it, 0))).toBe('a')
    expect(changed('a,b', (it) => moves.closeTab(it, 7))).toBe('a,b')
  })

  it('keeps the visible tab when moving tabs', () => {
    expect(changed('a,@b,c', (it) => moves.moveTab(it, 1, 0))).toBe('b,a,c')
    expect(changed('a,@b,c', (it) => moves.moveTab(it, 0, 2))).toBe('b,c,a')
    expect(changed('a,@b,c', (it) => moves.moveTab(it, 2, -3))).toBe('c,a,@b')
    expect(changed('a,b', (it) => moves.moveTab(it, 5, 0))).toBe('a,b')
  })

  it('keeps pinned tabs to the left of the others', () => {
    expect(changed('a,b,@c', (it) => moves.pinTab(it, 2, true))).toBe('!c,a,b')
    expect(changed('!c,a,@b', (it) => moves.pinTab(it, 1, true))).toBe('!c,!a,@b')
    expect(changed('@!c,!a,b', (it) => moves.pinTab(it, 0, false))).toBe('!a,@c,b')
    expect(changed('!a,b', (it) => moves.pinTab(it, 0, true))).toBe('!a,b')
    expect(changed('!a,!b,c', (it) => moves.moveTab(it, 0, 2))).toBe('!b,@!a,c')
    expect(changed('!a,b,c', (it) => moves.moveTab(it, 2, 0))).toBe('!a,c,b')
    expect(changed('!a,!b,c', (it) => moves.openTab(it, singleTab('d')))).toBe('!a,!b,@d,c')
  })

  it('shows the tab of an activated pane', () => {
    expect(changed('a,b.c', (it) => moves.activatePane(it, 'c'))).toBe('a,@b.@c')
    expect(changed('a,b.c', (it) => moves.activatePane(it, 'x'))).toBe('a,b.c')
    expect(changed('a,b', (it) => moves.showTab(it, 9))).toBe('a,b')
  })

  it('resizes the right split', () => {
    expect(changed('a.(b/c)', (it) => moves.setShares(it, 0, [1], [20, 80]))).toBe('a.(b*20/c)')
    expect(changed('a.(b/c)', (it) => moves.setShares(it, 0, [], [20, 80]))).toBe('a*20.(b/c)')
    expect(changed('a.(b/c)', (it) => moves.setShares(it, 0, [0, 3], [20, 80]))).toBe('a.(b/c)')
  })
})
