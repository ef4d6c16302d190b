import type { Outlet } from './subscription.ts'

/** What the console itself tells a page. A page that has not taken in what was told is told everything next. */
export const pushed = (outlet: Outlet, signal: AbortSignal, everything: () => unknown) => {
  let isBehind = false
  const tellAll = () => outlet.data(JSON.stringify(everything()), '')
  return {
    tellAll,
    tell: (item: unknown): void => {
      if (isBehind) return
      const room = outlet.room(signal)
      if (!room) {
        outlet.data(JSON.stringify(item), '')
        return
      }
      isBehind = true
      void room.then(() => {
        isBehind = false
        if (signal.aborted) return
        outlet.resync('')
        tellAll()
      })
    },
  }
}
