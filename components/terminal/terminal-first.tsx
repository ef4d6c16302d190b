'use client'
import { type ReactNode, use } from 'react'

/** Coming to life takes a page some 300 ms, and a prompt that has not come by then has more to wait for than that. */
const mostMs = 1_000

let first: Promise<unknown> | undefined

/** Leaves the page as the server sent it until `shown`, or for a second. To be called before React begins with it. */
export const letTerminalFirst = (shown: Promise<unknown>): void => {
  first = Promise.race([shown.catch(() => undefined), new Promise((end) => setTimeout(end, mostMs))])
}

/** Waits with bringing a page to life while its terminal, started ahead, has not shown its prompt. */
export const TerminalFirst = ({ children }: { children: ReactNode }) => {
  if (first) use(first)
  return children
}
