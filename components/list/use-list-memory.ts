'use client'
import { useEffect, useRef } from 'react'
import { memoryKey, readMemory, writeMemory } from '#lib/browser/lists/list-memory.ts'

interface Options {
  /** The address of the list. */
  address: string
  loaded: number
  hasMore: boolean
  /** Undefined while more is on its way, and once there is no more. */
  loadMore: (() => void) | undefined
  selected: ReadonlySet<string>
  onRestore: (selected: readonly string[]) => void
}

/** Brings a list back as far as it was loaded, scrolled and selected, after a reload and on the way back to it. */
export const useListMemory = (options: Options) => {
  const { address, loaded, hasMore, loadMore, onRestore } = options
  const wanted = useRef<{ loaded: number; scrollY: number } | null>(null)
  const key = useRef<string>(undefined)
  const latest = useRef(options)
  useEffect(() => {
    latest.current = options
  })

  // biome-ignore lint/correctness/useExhaustiveDependencies: once; later changes of the address are made by this very page
  useEffect(() => {
    const memory = readMemory(memoryKey(address))
    if (!memory) return
    if (memory.selected.length > 0) onRestore(memory.selected)
    if (memory.scrollY > 0) wanted.current = memory
  }, [])

  useEffect(() => {
    key.current = memoryKey(address)
  }, [address])

  useEffect(() => {
    let scrollY = window.scrollY
    // Told by the events: when this page goes, the next may have scrolled already.
    const onScroll = () => {
      scrollY = window.scrollY
    }
    const giveUp = () => {
      wanted.current = null
    }
    const keep = () => {
      const { loaded, selected } = latest.current
      writeMemory(key.current, { loaded, scrollY: wanted.current?.scrollY ?? scrollY, selected: [...selected] })
    }
    addEventListener('scroll', onScroll, { passive: true })
    for (const type of ['wheel', 'touchmove', 'keydown']) addEventListener(type, giveUp, { passive: true })
    addEventListener('pagehide', keep)
    return () => {
      keep()
      removeEventListener('scroll', onScroll)
      for (const type of ['wheel', 'touchmove', 'keydown']) removeEventListener(type, giveUp)
      removeEventListener('pagehide', keep)
    }
  }, [])

  useEffect(() => {
    if (!wanted.current || loaded === 0) return
    if (loaded < wanted.current.loaded && hasMore) return loadMore?.()
    const { scrollY } = wanted.current
    wanted.current = null
    // After the table has its height.
    requestAnimationFrame(() => window.scrollTo({ top: scrollY, behavior: 'instant' }))
  }, [loaded, hasMore, loadMore])
}
