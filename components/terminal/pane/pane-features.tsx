'use client'
import dynamic from 'next/dynamic'
import { useMedia } from '#lib/browser/frame/use-media.ts'
import { Clipboard } from '../tools/clipboard.tsx'
import { ClipboardAccess } from '../tools/clipboard-access.tsx'
import { CommandMarks } from '../tools/command-marks.tsx'
import { FileDrop } from '../tools/file-drop.tsx'
import { FindBar, FindButton } from '../tools/find-bar.tsx'
import { TerminalLinks } from '../tools/links/terminal-links.tsx'
import { PlainTextView } from '../tools/plain-text-view.tsx'
import { RecordButton } from '../tools/record-button.tsx'
import { ResetTerminal } from '../tools/reset-terminal.tsx'
import { FontSize } from '../tools/settings/font-size.ts'
import { SettingsButton } from '../tools/settings/settings-button.tsx'
import { Bell } from './bell.tsx'
import type { OpenedTerminal } from './opened-terminal.ts'

const KeyBar = dynamic(async () => (await import('../tools/key-bar.tsx')).KeyBar)

/* Features of a terminal. Each takes the opened terminal and adds itself in an effect; the pane knows none of them. */

/** Overlays, dialogs and invisible features. */
export const PaneOverlays = ({ opened, isFollowed }: { opened: OpenedTerminal; isFollowed: boolean }) => (
  <>
    <Bell opened={opened} />
    <TerminalLinks opened={opened} />
    <Clipboard opened={opened} />
    <ClipboardAccess opened={opened} />
    <FontSize opened={opened} />
    <FindBar opened={opened} />
    <ResetTerminal opened={opened} />
    {!isFollowed && <FileDrop opened={opened} />}
  </>
)

/** Buttons in the pane's bar. */
export const PaneTools = ({ opened }: { opened: OpenedTerminal }) => (
  <>
    <RecordButton opened={opened} />
    <CommandMarks opened={opened} />
    <PlainTextView opened={opened} />
    <FindButton opened={opened} />
    <SettingsButton opened={opened} />
  </>
)

/** Between screen and bar. Reserves room for the key bar in advance, because showing it would resize the shell. */
export const PaneFoot = ({ opened }: { opened: OpenedTerminal }) => {
  const hasTouch = useMedia('(pointer: coarse)')
  return <div className="hidden min-h-[2.8125rem] pointer-coarse:block">{hasTouch && <KeyBar opened={opened} />}</div>
}
