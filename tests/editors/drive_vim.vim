" Does in Vim what a user of ALE does, and writes what was to be seen as JSON to the file $SEEN.
set nomore

function! WaitFor(what, Condition) abort
  for step in range(1200)
    if a:Condition()
      return
    endif
    sleep 50m
  endfor
  throw 'waited in vain for ' . a:what
endfunction

function! Findings() abort
  return ale#engine#GetLoclist(bufnr(''))
endfunction

function! Hovered() abort
  let text = ''
  for window in range(1, winnr('$'))
    if getwinvar(window, '&previewwindow')
      let text = join(getbufline(winbufnr(window), 1, '$'), "\n")
    endif
  endfor
  return text
endfunction

" The menu of code actions, answered by title.
function! Choose(data, actions) abort
  let g:seen.actions = map(copy(a:actions), 'v:val[1].title')
  for [kind, action] in a:actions
    if stridx(action.title, $ACTION) == 0
      call ale#codefix#ApplyLSPCodeAction(a:data, action)
      return
    endif
  endfor
endfunction

let g:seen = {}
try
  execute 'edit' fnameescape($PROGRAM)
  call WaitFor('findings', {-> !empty(Findings())})
  let g:seen.findings = map(copy(Findings()),
  \ '{"code": v:val.code, "text": v:val.text, "type": v:val.type, "line": v:val.lnum}')
  call cursor(search('\V' . $AT), 1)
  call search('\V' . $AT)
  let g:ale_hover_to_preview = 1
  ALEHover
  call WaitFor('the hover', {-> !empty(Hovered())})
  let g:seen.hover = Hovered()
  call ale#codefix#Execute(0, function('Choose'))
  call WaitFor('the edit', {-> &modified})
  write
  call WaitFor('the finding to go', {-> empty(Findings())})
catch
  let g:seen.problem = v:exception . ' at ' . v:throwpoint
endtry
call writefile([json_encode(g:seen)], $SEEN)
qall!
