import type { Outlet } from './subscription.ts'

/** An item is told to many pages, and is made text of once. */
const texts = new WeakMap<object, string>()
const textOf = (item: object): string => {
  const known = texts.get(item)
  if (known !== undefined) return known
  const text = JSON.stringify(item)
  texts.set(item, text)
  return text
}

/** What the console itself tells a page. A page that has not taken in what was told is told everything next. */
export const pushed = (outlet: Outlet, everything: () => unknown) => {
  let isBehind = false
  const tellAll = () => outlet.data(JSON.stringify(everything()), '')
  return {
    tellAll,
    tell: (item: object): void => {
      if (isBehind) return
      const room = outlet.room()
      if (!room) {
        outlet.data(textOf(item), '')
        return
      }
      isBehind = true
      void room.then(() => {
        isBehind = false
        outlet.resync('')
        tellAll()
      })
    },
  }
}
