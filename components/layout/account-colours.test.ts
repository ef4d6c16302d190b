import { expect, it } from 'vitest'
import { accountColours } from './account-colours.ts'

it('gives each account of a browser a colour of its own, whichever of them the browser is on', () => {
  const ids = ['acc_1', 'acc_2', 'acc_3', 'acc_4', 'acc_5']
  const colours = accountColours(ids)
  expect(new Set(colours.values()).size).toBe(5)
  expect(accountColours([...ids].reverse())).toEqual(colours)
})
