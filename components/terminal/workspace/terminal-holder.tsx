'use client'
import { createContext, useContext, useEffect } from 'react'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'
import { FileDrop } from '../tools/file-drop.tsx'

/** Told of the terminals that are opened in it, and by the call that comes back, of their end. */
type TerminalHolder = (opened: OpenedTerminal) => () => void

/** None where a terminal is only followed. */
export const TerminalHolderContext = createContext<TerminalHolder | null>(null)

/** What a terminal has in the workspace of its devbox: it is known there, and takes files. */
export const WorkspaceParts = ({ opened }: { opened: OpenedTerminal }) => {
  const hold = useContext(TerminalHolderContext)
  useEffect(() => hold?.(opened), [hold, opened])
  return hold && <FileDrop opened={opened} />
}
