'use client'
import { useEffect, useRef } from 'react'
import { readTab, writeTab } from '#lib/browser/frame/tab-storage.ts'

interface Options {
  address: string
  loaded: number
  hasMore: boolean
  /** Undefined while a page is loading and when there are no more. */
  loadMore: (() => void) | undefined
}

/** Restores how far a list was loaded and scrolled, after a reload and on the way back. */
export const useListMemory = (options: Options) => {
  const { address, loaded, hasMore, loadMore } = options
  const wanted = useRef<{ loaded: number; scrollY: number } | null>(null)
  const key = useRef<string>(undefined)
  const latest = useRef(options)
  useEffect(() => {
    latest.current = options
  })

  // biome-ignore lint/correctness/useExhaustiveDependencies: only on arrival; later this page changes the address itself
  useEffect(() => {
    const memory = readMemory(memoryKey(address))
    if (memory && memory.scrollY > 0) wanted.current = memory
  }, [])

  useEffect(() => {
    key.current = memoryKey(address)
  }, [address])

  useEffect(() => {
    let scrollY = window.scrollY
    // Tracked by events: when this page unmounts, the next one may have scrolled already.
    const onScroll = () => {
      scrollY = window.scrollY
    }
    const giveUp = () => {
      wanted.current = null
    }
    const save = () => {
      const memory = { loaded: latest.current.loaded, scrollY: wanted.current?.scrollY ?? scrollY }
      if (key.current) writeTab(key.current, JSON.stringify(memory))
    }
    addEventListener('scroll', onScroll, { passive: true })
    for (const type of ['wheel', 'touchmove', 'keydown']) addEventListener(type, giveUp, { passive: true })
    addEventListener('pagehide', save)
    return () => {
      save()
      removeEventListener('scroll', onScroll)
      for (const type of ['wheel', 'touchmove', 'keydown']) removeEventListener(type, giveUp)
      removeEventListener('pagehide', save)
    }
  }, [])

  useEffect(() => {
    if (!wanted.current || loaded === 0) return
    if (loaded < wanted.current.loaded && hasMore) return loadMore?.()
    const { scrollY } = wanted.current
    wanted.current = null
    // Once the table has its height.
    requestAnimationFrame(() => window.scrollTo({ top: scrollY, behavior: 'instant' }))
  }, [loaded, hasMore, loadMore])
}

/** Keyed by history entry, which survives a reload but not a new visit. Undefined in browsers without the Navigation API. */
const memoryKey = (address: string): string | undefined => {
  const { navigation } = globalThis as { navigation?: { currentEntry?: { key?: string } | null } }
  const entry = navigation?.currentEntry?.key
  return entry && `devdeck:list:${entry}:${address}`
}

const readMemory = (key: string | undefined): { loaded: number; scrollY: number } | null =>
  key === undefined ? null : JSON.parse(readTab(key) ?? 'null')
