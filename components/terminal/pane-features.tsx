'use client'
import { Clipboard } from './clipboard.tsx'
import type { OpenedTerminal } from './opened-terminal.ts'

/*
 * What a terminal has beside its screen. Each part takes the opened terminal, adds to it in an effect what it is for
 * and takes that away again; the pane knows none of them. One line for each, in the place where it is drawn.
 */

/** Over the screen or nowhere: the find bar, dialogs, keys and what is only listened to. */
export const PaneOverlays = ({ opened }: { opened: OpenedTerminal }) => (
  <>
    <Clipboard opened={opened} />
  </>
)

/** Small buttons in the pane's bar, before those of whoever holds the pane. */
export const PaneTools = (_: { opened: OpenedTerminal }) => null

/** Between the screen and the bar, over the whole width: what takes room only while it is used. */
export const PaneFoot = (_: { opened: OpenedTerminal }) => null
