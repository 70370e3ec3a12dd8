/** The page of web/chat with a model that follows a script: `?scene=live`. A test moves it on by `window.scripted`. */
import { mount } from '../../../web/chat/src/mount.tsx'
import { type SceneName, scenes } from './scenes.ts'
import { ScriptedModel } from './scripted.ts'

const scene = (new URLSearchParams(location.search).get('scene') ?? 'live') as SceneName
const scripted = new ScriptedModel(scenes[scene]())
Object.assign(window, { scripted })
mount(document.getElementById('chat') as HTMLElement, scripted)
