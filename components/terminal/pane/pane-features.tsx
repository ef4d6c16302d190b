'use client'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'
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

const KeyBar = loadOnUse(async () => (await import('../tools/key-bar.tsx')).KeyBar)

/*
 * What a terminal has beside its screen. Each part takes the opened terminal, adds to it in an effect what it is for
 * and takes that away again; the pane knows none of them. One line for each, in the place where it is drawn.
 */

/** Over the screen or nowhere: the find bar, dialogs, keys and what is only listened to. */
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

/** Small buttons in the pane's bar, before those of whoever holds the pane. */
export const PaneTools = ({ opened }: { opened: OpenedTerminal }) => (
  <>
    <RecordButton opened={opened} />
    <CommandMarks opened={opened} />
    <PlainTextView opened={opened} />
    <FindButton opened={opened} />
    <SettingsButton opened={opened} />
  </>
)

/**
 * Between the screen and the bar, over the whole width: what takes room only while it is used. The room of the keys is
 * there before they are: the shell would have to be resized.
 */
export const PaneFoot = ({ opened }: { opened: OpenedTerminal }) => {
  const hasTouch = useMedia('(pointer: coarse)')
  return <div className="hidden min-h-[2.8125rem] pointer-coarse:block">{hasTouch && <KeyBar opened={opened} />}</div>
}
