'use client'
import { useLayoutEffect, useRef } from 'react'

interface Drawn {
  /** Of the rows drawn, in their order. */
  keys: readonly string[]
  /** Rows go by faster than they can be read. */
  isFast: boolean
  /** The row that has the focus, which must not go to another row with its elements. */
  focusedKey: string | null
}

export interface RowSlots {
  isFast: boolean
  /** Counts the fast stretches of scrolling. */
  run: number
  /** By the key of each row drawn: the React key of the elements it is drawn in. */
  slotOf: ReadonlyMap<string, string>
}

export const noSlots: RowSlots = { isFast: false, run: 0, slotOf: new Map() }

/**
 * Which elements each row is drawn in. A row keeps its own until it goes; but those that come while rows go by fast take
 * over, place by place, what such rows before them were drawn in. Making and dropping a screen of elements with each frame
 * was most of what a fast scroll cost, and what the garbage collector held it up for.
 */
export const useRowSlots = (drawn: Drawn): RowSlots['slotOf'] => {
  const before = useRef(noSlots)
  const slots = nextSlots(before.current, drawn)
  useLayoutEffect(() => {
    before.current = slots
  })
  return slots.slotOf
}

export const nextSlots = (before: RowSlots, { keys, isFast, focusedKey }: Drawn): RowSlots => {
  const run = isFast && !before.isFast ? before.run + 1 : before.run
  // What is left of an earlier run has been drawn whole since, or will be, and so is its row's alone.
  const ofThisRun = `run ${run} `
  const keeps = (key: string, slot: string) => !isFast || key === focusedKey || !slot.startsWith(ofThisRun)
  const kept = new Map<string, string>()
  for (const key of keys) {
    const slot = before.slotOf.get(key)
    if (slot !== undefined && keeps(key, slot)) kept.set(key, slot)
  }
  const taken = new Set(kept.values())
  let place = 0
  const nextPlace = () => {
    while (taken.has(`${ofThisRun}${place}`)) place++
    return `${ofThisRun}${place++}`
  }
  const slotOf = new Map(keys.map((key) => [key, kept.get(key) ?? (isFast ? nextPlace() : `row ${key}`)]))
  return { isFast, run, slotOf }
}
