import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { RecordingList } from '#lib/protocol/recordings.ts'
import { requireCaller } from '../accounts/session-cookie.ts'
import { actorOf, withActivityRecord } from '../activity/activity.ts'
import { HttpError, handleRequest, json } from '../http/handle-request.ts'
import { readRecording, recordingFile, recordingsOf } from './recording.ts'
import { liveRecordings } from './registry.ts'

/** `GET /api/recordings` */
export const listRecordings = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const { account } = await requireCaller(request, 'read')
    return json({ recordings: await recordingsOf(account.id) } satisfies RecordingList)
  })

/** `GET /api/recordings/{id}`: the file, or its list entry with `?view=summary`. */
export const getRecording = (request: Request, id: string): Promise<Response> =>
  handleRequest(request, async () => {
    const { account } = await requireCaller(request, 'read')
    const file = recordingFile(account.id, id)
    const found = await readRecording(file, id)
    if (!found) throw new HttpError('not_found', `Recording ${id} not found`)
    if (new URL(request.url).searchParams.get('view') === 'summary') return json(found)
    // The file may still grow; send only the length read above.
    const stream = found.size_bytes === 0 ? Readable.from([]) : createReadStream(file, { end: found.size_bytes - 1 })
    return new Response(Readable.toWeb(stream) as ReadableStream<Uint8Array>, {
      headers: {
        'content-type': 'application/x-asciicast',
        'content-length': String(found.size_bytes),
        'content-disposition': `attachment; filename="${id}.cast"`,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      },
    })
  })

/** `DELETE /api/recordings/{id}` */
export const deleteRecording = (request: Request, id: string): Promise<Response> =>
  handleRequest(request, async () => {
    const session = await requireCaller(request, 'write')
    const actor = actorOf(session, (name) => request.headers.get(name))
    return withActivityRecord(actor, { operation: 'recordings.delete', subject: id }, async () => {
      const file = recordingFile(session.account.id, id)
      if (!(await readRecording(file, id))) throw new HttpError('not_found', `Recording ${id} not found`)
      if (liveRecordings().has(id))
        throw new HttpError('conflict', 'The recording is still running. Stop it in its terminal first.')
      await rm(file, { force: true })
      return json({})
    })
  })
