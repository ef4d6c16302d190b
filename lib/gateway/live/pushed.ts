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
export abstract class Pushed {
  protected readonly outlet: Outlet
  #isBehind = false

  constructor(outlet: Outlet) {
    this.outlet = outlet
  }

  protected abstract everything(): unknown

  protected pushAll(): void {
    this.outlet.data(JSON.stringify(this.everything()), '')
  }

  protected push(item: object) {
    if (this.#isBehind) return
    const room = this.outlet.room()
    if (!room) return this.outlet.data(textOf(item), '')
    this.#isBehind = true
    void room.then(() => {
      this.#isBehind = false
      this.outlet.resync('')
      this.pushAll()
    })
  }
}
