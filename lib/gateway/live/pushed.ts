import type { Subscriber } from './subscription.ts'

/** The JSON of each item, which is written once for all pages that get it. */
const texts = new WeakMap<object, string>()
const textOf = (item: object): string => {
  const known = texts.get(item)
  if (known !== undefined) return known
  const text = JSON.stringify(item)
  texts.set(item, text)
  return text
}

/** A topic that the console itself keeps. A page that falls behind is sent everything in place of what it missed. */
export abstract class Pushed {
  protected readonly outlet: Subscriber
  #isBehind = false

  constructor(outlet: Subscriber) {
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
