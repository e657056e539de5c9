; The installer for Windows, for one person and without administrator's rights. build/package.sh defines
; VERSION (of the package), NUMBERS (of the program, a.b.c), FILES (the folder with everything) and OUT.
;
; aalis.exe has no console, so that starting it opens none: a command prompt neither waits for it nor
; sees what it says. Scripts use aalis-server.exe, which has one and every command.
Unicode true
ManifestDPIAware true
ManifestSupportedOS all
RequestExecutionLevel user
SetCompressor /SOLID lzma
!include MUI2.nsh
!include LogicLib.nsh
!include FileFunc.nsh
!include x64.nsh

!define PROGRAM "Aalis"
!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\Aalis"
!define SCHEME "Software\Classes\aalis"
; What the program itself writes when it is told to start with the machine (app/autostart) and when it
; shows a notification (app/notify).
!define AUTOSTART "Software\Microsoft\Windows\CurrentVersion\Run"
!define AUTOSTART_APPROVED "Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run"
!define ACTIVATOR "Software\Classes\CLSID\{6F0C3A5E-5B0A-4E57-9C55-3B1D6E0D2A41}"
!define NOTIFIER "Software\Classes\AppUserModelId\Aalis"

Name "${PROGRAM}"
OutFile "${OUT}"
; Data lies in $LOCALAPPDATA\Aalis, which is another folder.
InstallDir "$LOCALAPPDATA\Programs\Aalis"
InstallDirRegKey HKCU "${UNINSTALL}" "InstallLocation"
BrandingText "${PROGRAM} ${VERSION}"
VIProductVersion "${NUMBERS}.0"
VIAddVersionKey "ProductName" "${PROGRAM}"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${NUMBERS}.0"
VIAddVersionKey "FileDescription" "${PROGRAM} setup"
VIAddVersionKey "CompanyName" "The Aalis Desktop authors"
VIAddVersionKey "LegalCopyright" "The Aalis Desktop authors, MIT licence"

!define MUI_ICON "${FILES}\aalis.ico"
!define MUI_UNICON "${FILES}\aalis.ico"
!define MUI_FINISHPAGE_RUN "$INSTDIR\aalis.exe"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!define MUI_UNCONFIRMPAGE_TEXT_TOP "$(DataStays)"
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "SimpChinese"

LangString SystemTooOld ${LANG_ENGLISH} "${PROGRAM} needs 64-bit Windows 10 or newer."
LangString SystemTooOld ${LANG_SIMPCHINESE} "${PROGRAM} 需要 64 位的 Windows 10 或更新版本。"
LangString StillRuns ${LANG_ENGLISH} "${PROGRAM} is running. Quit it from its icon beside the clock or its window, then retry."
LangString StillRuns ${LANG_SIMPCHINESE} "${PROGRAM} 正在运行。请从时钟旁的图标或窗口中退出它，然后重试。"
LangString DataStays ${LANG_ENGLISH} "Your conversations and settings stay in $LOCALAPPDATA\Aalis."
LangString DataStays ${LANG_SIMPCHINESE} "你的会话和设置保留在 $LOCALAPPDATA\Aalis 中。"

; WhenClosed waits until a file of ours is not run any more: what runs cannot be opened for writing.
; The person ends the program, because only they know whether she may be interrupted. Without anybody
; to ask, the installer ends with 3.
!macro WhenClosed FILE
	${Do}
		${IfNot} ${FileExists} "${FILE}"
			${Break}
		${EndIf}
		ClearErrors
		FileOpen $0 "${FILE}" a
		${IfNot} ${Errors}
			FileClose $0
			${Break}
		${EndIf}
		MessageBox MB_RETRYCANCEL|MB_ICONEXCLAMATION "$(StillRuns)" /SD IDCANCEL IDRETRY +3
			SetErrorLevel 3
			Abort
	${Loop}
!macroend

; WhenOurs … ${EndIf} is for what starts this installation, and not another that came after it.
!macro WhenOurs KEY NAME
	ReadRegStr $0 HKCU "${KEY}" "${NAME}"
	StrLen $1 '"$INSTDIR\aalis.exe"'
	StrCpy $2 $0 $1
	StrLen $1 "$INSTDIR\aalis.exe"
	StrCpy $3 $0 $1
	${If} $2 == '"$INSTDIR\aalis.exe"'
	${OrIf} $3 == "$INSTDIR\aalis.exe"
!macroend

Function .onInit
	${IfNot} ${RunningX64}
		MessageBox MB_OK|MB_ICONSTOP "$(SystemTooOld)" /SD IDOK
		SetErrorLevel 2
		Abort
	${EndIf}
FunctionEnd

Section
	!insertmacro WhenClosed "$INSTDIR\aalis.exe"
	!insertmacro WhenClosed "$INSTDIR\aalis-server.exe"
	SetOutPath "$INSTDIR"
	File "${FILES}\aalis.exe"
	File "${FILES}\aalis-server.exe"
	File "${FILES}\LICENSE.txt"
	File "${FILES}\NOTICE.txt"
	CreateShortcut "$SMPROGRAMS\${PROGRAM}.lnk" "$INSTDIR\aalis.exe"

	; The path is quoted, else a program in a folder of its first word would be started. What follows
	; -- is never an option, whatever a page puts into a link.
	WriteRegStr HKCU "${SCHEME}" "" "URL:${PROGRAM}"
	WriteRegStr HKCU "${SCHEME}" "URL Protocol" ""
	WriteRegStr HKCU "${SCHEME}\DefaultIcon" "" '"$INSTDIR\aalis.exe",0'
	WriteRegStr HKCU "${SCHEME}\shell\open\command" "" '"$INSTDIR\aalis.exe" -- "%1"'

	WriteUninstaller "$INSTDIR\uninstall.exe"
	WriteRegStr HKCU "${UNINSTALL}" "DisplayName" "${PROGRAM}"
	WriteRegStr HKCU "${UNINSTALL}" "DisplayVersion" "${VERSION}"
	WriteRegStr HKCU "${UNINSTALL}" "DisplayIcon" '"$INSTDIR\aalis.exe",0'
	WriteRegStr HKCU "${UNINSTALL}" "Publisher" "The Aalis Desktop authors"
	WriteRegStr HKCU "${UNINSTALL}" "InstallLocation" "$INSTDIR"
	WriteRegStr HKCU "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
	WriteRegStr HKCU "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
	WriteRegDWORD HKCU "${UNINSTALL}" "NoModify" 1
	WriteRegDWORD HKCU "${UNINSTALL}" "NoRepair" 1
	${GetSize} "$INSTDIR" "/S=0K" $0 $1 $2
	WriteRegDWORD HKCU "${UNINSTALL}" "EstimatedSize" $0
SectionEnd

Section "Uninstall"
	!insertmacro WhenClosed "$INSTDIR\aalis.exe"
	!insertmacro WhenClosed "$INSTDIR\aalis-server.exe"
	; By name: the folder may be one that a person chose and keeps other things in.
	Delete "$INSTDIR\aalis.exe"
	Delete "$INSTDIR\aalis-server.exe"
	Delete "$INSTDIR\LICENSE.txt"
	Delete "$INSTDIR\NOTICE.txt"
	Delete "$INSTDIR\uninstall.exe"
	RMDir "$INSTDIR"
	Delete "$SMPROGRAMS\${PROGRAM}.lnk"
	!insertmacro WhenOurs "${SCHEME}\shell\open\command" ""
		DeleteRegKey HKCU "${SCHEME}"
	${EndIf}
	!insertmacro WhenOurs "${AUTOSTART}" "${PROGRAM}"
		DeleteRegValue HKCU "${AUTOSTART}" "${PROGRAM}"
		DeleteRegValue HKCU "${AUTOSTART_APPROVED}" "${PROGRAM}"
	${EndIf}
	!insertmacro WhenOurs "${ACTIVATOR}\LocalServer32" ""
		DeleteRegKey HKCU "${ACTIVATOR}"
		DeleteRegKey HKCU "${NOTIFIER}"
	${EndIf}
	DeleteRegKey HKCU "${UNINSTALL}"
SectionEnd
