'use client'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  LanguageDescription,
  syntaxHighlighting,
} from '@codemirror/language'
import { languages } from '@codemirror/language-data'
import { gotoLine, highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useEffectEvent, useRef } from 'react'
import { hiddenCharacters, visiblePieces } from '#components/ui/text.ts'

export interface CodeViewProps {
  label: string
  /** Decides the language. */
  fileName: string
  text: string
  /** Counts from 1. */
  line?: number | undefined
  /** Without it, the text can't be edited. Line breaks are \n. */
  onText?: (text: string) => void
}

/** Text with syntax colors. As an editor it takes the focus; a new `text` from outside replaces the document. */
export const CodeView = ({ label, fileName, text, line, onText }: CodeViewProps) => {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const isEditor = onText !== undefined
  const typed = useEffectEvent((next: string) => onText?.(next))
  const textNow = useEffectEvent(() => text)
  const lineNow = useEffectEvent(() => line)

  useEffect(() => {
    if (!host.current) return
    const language = new Compartment()
    const editor = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: textNow(),
        extensions: [
          shared,
          isEditor ? editable : readOnly,
          language.of([]),
          EditorView.contentAttributes.of({ 'aria-label': label }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) typed(update.state.doc.toString())
          }),
        ],
      }),
    })
    view.current = editor
    goTo(editor, lineNow())
    if (isEditor) editor.focus()
    // Without a language for the name, the text stays plain.
    void LanguageDescription.matchFilename(languages, fileName)
      ?.load()
      .then((support) => view.current === editor && editor.dispatch({ effects: language.reconfigure(support) }))
    return () => {
      view.current = null
      editor.destroy()
    }
  }, [isEditor, label, fileName])

  useEffect(() => {
    const editor = view.current
    if (!editor || editor.state.doc.toString() === text) return
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } })
  }, [text])

  useEffect(() => {
    if (view.current) goTo(view.current, line)
  }, [line])

  return <div ref={host} className={isEditor ? 'h-[min(65dvh,48rem)]' : 'max-h-[70dvh]'} data-code-view="" />
}

const goTo = (view: EditorView, line: number | undefined) => {
  if (line === undefined) return
  const { from } = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines))
  view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) })
}

const color = (name: string) => `var(--${name})`

const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword, tags.controlKeyword], color: color('accent') },
  { tag: [tags.string, tags.special(tags.string), tags.regexp, tags.attributeValue], color: color('ok') },
  { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.escape], color: color('attention') },
  {
    tag: [tags.typeName, tags.className, tags.tagName, tags.propertyName, tags.attributeName, tags.labelName],
    color: color('progress'),
  },
  { tag: [tags.comment, tags.meta, tags.processingInstruction], color: color('text-muted') },
  { tag: tags.heading, color: color('accent'), fontWeight: '600' },
  { tag: [tags.link, tags.url], color: color('progress'), textDecoration: 'underline' },
  { tag: tags.strong, fontWeight: '600' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.deleted, color: color('danger') },
  { tag: tags.inserted, color: color('ok') },
  { tag: tags.invalid, color: color('danger') },
])

const theme = EditorView.theme({
  '&': {
    height: '100%',
    maxHeight: 'inherit',
    color: color('text'),
    backgroundColor: color('surface-0'),
    border: `1px solid ${color('line')}`,
    borderRadius: '6px',
    overflow: 'hidden',
  },
  '&.cm-focused': { outline: `2px solid ${color('focus')}`, outlineOffset: '-1px' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', fontSize: '0.78125rem', lineHeight: '1.125rem' },
  '.cm-content': { padding: '0.5rem 0', caretColor: color('text') },
  '.cm-line': { padding: '0 1rem 0 0.75rem' },
  '.cm-cursor': { borderLeftColor: color('text') },
  '.cm-gutters': {
    color: color('text-muted'),
    backgroundColor: color('surface-1'),
    borderRight: `1px solid ${color('line')}`,
  },
  '.cm-activeLine, .cm-activeLineGutter': {
    backgroundColor: 'color-mix(in oklab, var(--accent-soft) 55%, transparent)',
  },
  '.cm-activeLineGutter': { color: color('text') },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in oklab, var(--accent) 30%, transparent)',
  },
  '.cm-selectionMatch': { backgroundColor: color('surface-3') },
  '.cm-searchMatch': { backgroundColor: color('attention-bg'), outline: `1px solid ${color('attention-line')}` },
  '.cm-searchMatch-selected': { backgroundColor: color('attention-line') },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: color('surface-3') },
  '.cm-panels': { color: color('text'), backgroundColor: color('surface-1'), borderColor: color('line') },
  '.cm-panels-top': { borderBottom: `1px solid ${color('line')}` },
  '.cm-panel.cm-search': { padding: '0.375rem 0.5rem', fontSize: '0.78125rem' },
  '.cm-panel.cm-search label, .cm-panel.cm-search [name]': { fontSize: '0.78125rem' },
  '.cm-panel label': { fontSize: '0.78125rem' },
  '.cm-textfield': {
    color: color('text'),
    backgroundColor: color('surface-0'),
    border: `1px solid ${color('line-strong')}`,
    borderRadius: '4px',
    fontSize: '0.78125rem',
  },
  '.cm-button': {
    color: color('text'),
    backgroundImage: 'none',
    backgroundColor: color('surface-0'),
    border: `1px solid ${color('line-strong')}`,
    borderRadius: '4px',
    fontSize: '0.78125rem',
  },
  '.cm-panel button[name=close], .cm-dialog-close': { color: color('text'), minWidth: '24px', minHeight: '24px' },
  '.cm-specialChar': { color: color('text-muted'), backgroundColor: color('surface-2'), borderRadius: '3px' },
})

/** Nothing in the text is hidden: not control characters, and not those that reorder their neighbors. */
const specialCharacters = highlightSpecialChars({
  specialChars: new RegExp(`(?![\\t\\n])${hiddenCharacters.source}`, 'gv'),
  render: (code) => {
    const [piece] = visiblePieces(String.fromCodePoint(code))
    const mark = document.createElement('span')
    mark.className = 'cm-specialChar'
    mark.textContent = piece?.text ?? ''
    mark.title = piece?.codePoint ?? ''
    return mark
  },
})

const shared: Extension = [
  lineNumbers(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  specialCharacters,
  syntaxHighlighting(colors),
  search({ top: true }),
  EditorState.tabSize.of(4),
  // A lone \r is shown as a character.
  EditorState.lineSeparator.of('\n'),
  theme,
  EditorState.phrases.of({
    next: 'Next',
    previous: 'Previous',
    all: 'Select all',
    'match case': 'Match case',
    regexp: 'Regular expression',
    'by word': 'Whole word',
    replace: 'Replace',
    'replace all': 'Replace all',
    close: 'Close',
    go: 'Go',
  }),
]

const editable: Extension = [
  history(),
  drawSelection(),
  indentOnInput(),
  bracketMatching(),
  highlightSelectionMatches(),
  EditorView.contentAttributes.of({ tabindex: '0', spellcheck: 'false', autocorrect: 'off', autocapitalize: 'off' }),
  keymap.of([{ key: 'Mod-g', run: gotoLine }, ...searchKeymap, ...historyKeymap, ...defaultKeymap, indentWithTab]),
]

const readOnly: Extension = [
  EditorState.readOnly.of(true),
  EditorView.editable.of(false),
  // Focusable, so that it scrolls by keyboard and opens the search.
  EditorView.contentAttributes.of({ tabindex: '0', 'aria-readonly': 'true' }),
  keymap.of([{ key: 'Mod-g', run: gotoLine }, ...searchKeymap]),
]
