import { render } from 'preact';
import { Page } from './shell/page.tsx';
import { beginSession } from './shell/session.ts';

beginSession();
render(<Page />, document.getElementById('page')!);
