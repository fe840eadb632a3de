"""Writes the PDF that is read first: pip install fonttools; python3 specimen.py ../specimen.pdf"""
import io, sys, zlib
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
def glyph():
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0)); pen.lineTo((500, 0)); pen.qCurveTo((500, 500), (0, 500)); pen.closePath()
    return pen.glyph()
fb = FontBuilder(1000, isTTF=True)
fb.setupGlyphOrder([".notdef", "w"])
fb.setupCharacterMap({0x77: "w"})
fb.setupGlyf({".notdef": glyph(), "w": glyph()})
fb.setupHorizontalMetrics({".notdef": (600, 0), "w": (600, 0)})
fb.setupHorizontalHeader(ascent=800, descent=-200)
fb.setupPost(keepGlyphNames=False)
out = io.BytesIO(); fb.save(out)
font = zlib.compress(out.getvalue(), 9)
page = zlib.compress(b"BT /F 9 Tf 9 9 Td (www) Tj ET 9 20 m 90 20 l S 9 30 m 20 30 30 40 40 40 c f q 9 0 0 9 50 50 cm /I Do Q", 9)
def stream(head, data): return b"<<%s/Length %d>>stream\n%s\nendstream" % (head, len(data), data)
objects = [
    b"<</Type/Catalog/Pages 2 0 R>>",
    b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
    b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>/XObject<</I 8 0 R>>>>>>",
    stream(b"/Filter/FlateDecode", page),
    b"<</Type/Font/Subtype/TrueType/BaseFont/AAAAAA+S/FirstChar 119/LastChar 119/Widths[600]/Encoding/WinAnsiEncoding/FontDescriptor 6 0 R>>",
    b"<</Type/FontDescriptor/FontName/AAAAAA+S/Flags 32/FontBBox[0 0 500 500]/ItalicAngle 0/Ascent 800/Descent -200/CapHeight 500/StemV 80/FontFile2 7 0 R>>",
    stream(b"/Filter/FlateDecode/Length1 %d" % len(out.getvalue()), font),
    stream(b"/Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray", b"x"),
]
pdf, at = b"%PDF-1.4\n", []
for i, o in enumerate(objects):
    at.append(len(pdf)); pdf += b"%d 0 obj\n%s\nendobj\n" % (i + 1, o)
xref = len(pdf)
pdf += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + b"".join(b"%010d 00000 n \n" % a for a in at)
pdf += b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, xref)
open(sys.argv[1], "wb").write(pdf)
