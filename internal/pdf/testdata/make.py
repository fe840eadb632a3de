"""Writes the PDFs of this folder with reportlab 5.1: python3 make.py"""
from reportlab import rl_config
from reportlab.graphics import renderPDF
from reportlab.graphics.charts.barcharts import VerticalBarChart
from reportlab.graphics.charts.linecharts import HorizontalLineChart
from reportlab.graphics.shapes import Drawing, String
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.pdfgen import canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table

rl_config.invariant = 1
styles = getSampleStyleSheet()
small = ParagraphStyle("small", parent=styles["Normal"], fontSize=8, leading=9.5)


def new(name):
    return canvas.Canvas(name, pagesize=A4, invariant=1)


def lines(c, x, y, texts, step=13, font="Helvetica", size=10):
    c.setFont(font, size)
    for text in texts:
        c.drawString(x, y, text)
        y -= step
    return y


def stations():
    """Ruled, three header rows, sections, wrapped cells, two pages with the header on each."""
    rows = [["Station", "Pumped water, thousand m³", "", "", "", "Remark"], ["", "2024", "", "2025", "", ""], ["", "spring", "autumn", "spring", "autumn", ""]]
    look = [("SPAN", (0, 0), (0, 2)), ("SPAN", (1, 0), (4, 0)), ("SPAN", (1, 1), (2, 1)), ("SPAN", (3, 1), (4, 1)), ("SPAN", (5, 0), (5, 2)),
            ("GRID", (0, 0), (-1, -1), 0.5, colors.black), ("VALIGN", (0, 0), (-1, -1), "TOP"), ("FONTSIZE", (0, 0), (-1, -1), 9)]
    towns = "Aldbrook Benfield Corley Dunmere Eastwick Farholm Gilsdale Hawkhurst Inglewood Jarrow Kelby Lynmouth Marsden Norbury Oakham Penrith Quorn Ripley Selby Thirsk".split()
    for k, town in enumerate(towns * 2):
        if k % 20 == 0:
            rows.append([["River", "Lake"][k // 20] + " stations", "", "", "", "", ""])
            look.append(("SPAN", (0, len(rows) - 1), (-1, len(rows) - 1)))
        remark = Paragraph("Closed for repair from May until the end of July", small) if k % 9 == 4 else ""
        rows.append([town + " " + "AB"[k // 20], *[f"{(k * 37 + j * 11) % 400 + 100}.{(k + j) % 10}" for j in range(4)], remark])
    SimpleDocTemplate("stations.pdf", pagesize=A4, title="untitled").build([
        Paragraph("Water of the valley", styles["Title"]),
        Paragraph("The table below lists what each station has pumped. Figures are in thousand cubic metres, and they were read from the meters at the end of each season by the wardens.", styles["Normal"]),
        Spacer(1, 10), Table(rows, repeatRows=3, style=look, colWidths=[90, 60, 60, 60, 60, 120]), Spacer(1, 10),
        Paragraph("All figures are provisional until the council has confirmed them in its meeting of the new year.", styles["Normal"])])


def offer():
    """Without lines, header on the first page only, wrapped cells, a column with few cells; a table beside prose."""
    c = new("offer.pdf")
    places = [60, 110, 300, 360, 430, 500]

    def row(y, cells, font="Helvetica"):
        c.setFont(font, 10)
        for x, text in zip(places, cells):
            (c.drawRightString if x in (360, 430) else c.drawString)(x + 40 * (x in (360, 430)), y, text)

    lines(c, 60, 780, ["Offer 2291"], font="Helvetica-Bold", size=20)
    lines(c, 60, 750, ["We thank you for your inquiry and offer you the goods below. Prices hold until the end of the month."])
    row(720, ["Item", "Description", "Unit", "Count", "Price", "Note"], "Helvetica-Bold")
    goods = ["Sharpening stone", "Hand plane with blade", "Marking gauge", "Mortise chisel", "Dovetail saw", "Clamp", "Bench hook", "Spokeshave"]
    y = 702
    for i in range(40):
        if y < 60:
            c.showPage()
            y = 780
        row(y, [f"{i + 1:03d}", goods[i % 8], "piece" if i % 3 else "box of ten", str(i * 7 % 50 + 1), f"{(i * 331) % 9000 / 100 + 3:.2f}", "last one" if i in (7, 31) else ""])
        if i % 8 == 1:
            y -= 12
            row(y, ["", "of hardened steel"])
        y -= 20
    lines(c, 60, y - 20, ["We deliver within ten days. The prices do not include the tax on sales, which is nineteen per cent."])
    c.showPage()
    lines(c, 60, 780, ["The workshop keeps a stock of the wood that", "is asked for most. It is dried in the loft for", "two years and then planed on both sides, so", "that it can be used on the day it is bought.", "Whoever needs more than ten boards should", "write to us first, since the loft is small and", "we cannot promise more than the list says."])
    for k, cells in enumerate([["Wood", "Boards"], ["Ash", "24"], ["Cherry", "9"], ["Walnut", "3"]]):
        for x, text in zip([340, 440], cells):
            lines(c, x, 780 - 26 * k, [text], font="Helvetica-Bold" if k == 0 else "Helvetica")
    c.save()


def turned():
    """Text turned to the left, the same on a sheet with /Rotate, text turned to the right, upright text with /Rotate."""
    c = new("turned.pdf")
    rows = [["Tower", "Height", "Built", "Keeper"], ["North light", "31 m", "1871", "A. Brandt"], ["South light", "24 m", "1902", "I. Kovac"], ["Pier light", "12 m", "1955", "none"], ["Reef light", "40 m", "1889", "M. Okafor"]]
    for k, (rotate, angle, x, y, text) in enumerate([(0, 90, 200, 200, "Lights of the coast"), (90, 90, 300, 200, "A turned sheet"), (0, 270, 300, 600, "Turned to the right")]):
        c.setPageRotation(rotate)
        c.saveState()
        c.translate(x, y)
        c.rotate(angle)
        lines(c, 0, 40, [text], font="Helvetica-Bold", size=18 - 2 * k)
        for r, cells in enumerate(rows):
            for at, cell in zip([0, 120, 220, 300], cells):
                lines(c, at, -20 * r, [cell + (" " + "abc"[k] if at == 0 and r else "")], size=12)
        c.restoreState()
        c.showPage()
    c.addPageLabel(0, style="ROMAN_LOWER")
    c.addPageLabel(2, style="ARABIC")
    c.setPageRotation(90)
    lines(c, 60, 700, ["Keys"], font="Helvetica-Bold", size=14)
    lines(c, 60, 670, ["The blue key hangs in the pier light.", "The red key hangs in the mill.", "All others are lost."])
    c.save()


def prose():
    """No table: contents, lists, columns of prose, a transcript with numbered lines."""
    c = new("prose.pdf")
    c.setTitle("(anonymous)")
    lines(c, 60, 790, ["Contents"], font="Helvetica-Bold", size=16)
    y = 760
    for i, (text, page) in enumerate([("Arrival", 3), ("The house", 4), ("Heating", 9), ("Water and drains", 12), ("The garden", 15), ("Leaving", 21)]):
        lines(c, 60, y, [str(i + 1)])
        lines(c, 90, y, [text])
        c.drawRightString(500, y, str(page))
        y -= 16
    y = 600
    for i, text in enumerate(["Turn the main switch on before you open the water.", "Open the valve behind the stove, slowly.", "Wait until the boiler hums.", "Write the time into the book."]):
        lines(c, 70, y, [f"{i + 1}."])
        lines(c, 100, y, [text])
        y -= 15
    y -= 20
    for text in ["a bucket and a mop", "two blankets", "the blue key"]:
        lines(c, 70, y, ["•"])
        lines(c, 100, y, [text])
        y -= 15
    c.showPage()
    for x in (60, 320):
        lines(c, x, 780, ["The house stands on a hill above the lake and", "has been let to guests since the old mill was", "closed. There is room for nine people in five", "rooms, each with a view of the water or of the", "wood behind it. Guests bring their own linen,", "and they leave the kitchen as they found it."])
    c.showPage()
    said = [("Q.", "Did you see who opened the gate that night?"), ("A.", "I saw a lamp, but not the man who carried it."), ("Q.", "Which way did the lamp go?"), ("A.", "Down to the boats, along the wall.")]
    for i in range(12):
        y = 780 - 24 * i
        lines(c, 60, y, [str(i + 1)])
        lines(c, 100, y, [said[i % 4][0]])
        lines(c, 130, y, [said[i % 4][1]])
    c.save()


def figures():
    """No table: charts, formulas, a form, a listing. A letterhead with a number and a date in its lines may be one."""
    c = new("figures.pdf")
    lines(c, 60, 790, ["The chart below shows how many boats were in the harbour in each month of two years,", "and how many of them stayed for the winter."])
    drawing, chart = Drawing(400, 250), VerticalBarChart()
    chart.x, chart.y, chart.width, chart.height = 40, 30, 340, 180
    chart.data = [[12, 14, 30, 41, 44, 38], [10, 18, 28, 39, 47, 31]]
    chart.categoryAxis.categoryNames = ["Jan", "Mar", "May", "Jul", "Sep", "Nov"]
    chart.valueAxis.valueMin, chart.valueAxis.valueMax, chart.valueAxis.visibleGrid, chart.barLabelFormat = 0, 50, 1, "%d"
    for part in (chart, String(40, 230, "Boats in the harbour"), String(300, 230, "2024"), String(340, 230, "2025")):
        drawing.add(part)
    renderPDF.draw(drawing, c, 60, 500)
    lines(c, 60, 480, ["Two thirds of the boats are owned by people of the town."])
    drawing, chart = Drawing(400, 200), HorizontalLineChart()
    chart.x, chart.y, chart.width, chart.height = 40, 30, 340, 140
    chart.data = [[1.2, 1.4, 3.0, 4.1, 4.4, 3.8]]
    chart.categoryAxis.categoryNames = ["2019", "2020", "2021", "2022", "2023", "2024"]
    drawing.add(chart)
    renderPDF.draw(drawing, c, 60, 250)
    c.showPage()
    lines(c, 60, 800, ["Harbour office", "Quay 4", "20457 Hamburg"])
    lines(c, 400, 800, ["Telephone 040 555 0199", "office@harbour.example", "12 March 2026"])
    lines(c, 60, 720, ["Dear Mr Okafor,", "thank you for your letter of 3 March. The berth you ask for is free from the first of May, and it", "costs 41 euros a week. If you wish to have it, please sign below and send the letter back."])
    lines(c, 60, 600, ["Place, date"])
    lines(c, 300, 600, ["Signature"])
    c.line(60, 612, 200, 612)
    c.line(300, 612, 440, 612)
    for k, text in enumerate(["x + y = 3", "2x - y = 0", "z = 4x + 7"]):
        lines(c, 200, 560 - 30 * k, [text], font="Helvetica-Oblique")
        lines(c, 480, 560 - 30 * k, [f"({k + 1})"])
    lines(c, 60, 440, ["NAME", "     pump - move water", "OPTIONS", "     -a     all pumps", "     -n 3   three of them", "     -h     this help"], font="Courier")
    c.save()


for write in (stations, offer, turned, prose, figures):
    write()
