/** Init script of a page: sets the clock of its computer `offsetMs` ahead; `realNow` stays right. */
export const setClockAhead = (offsetMs: number): void => {
  const Real = Date
  Object.assign(globalThis, {
    realNow: () => Real.now(),
    Date: class extends Real {
      constructor(...parts: []) {
        super(...((parts.length > 0 ? parts : [Real.now() + offsetMs]) as []))
      }
      static override now = () => Real.now() + offsetMs
    },
  })
}
