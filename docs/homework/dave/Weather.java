import java.util.Iterator;

public class Weather {
    private final Iterator<Double> days;
    private double sum = 0, n = 0;
    private int record = 0;

    Weather(Iterator<Double> days) {
        this.days = days;
    }

    void run(int streak) {
        while (days.hasNext()) {
            double day = days.next();
            sum += day;
            n += 1;
            streak = day < 25 ? 0 : streak + 1;
            record = Math.max(record, streak);
        }
    }

    public static void main(String[] args) throws Exception {
        Weather weather = new Weather(Reader.read(args[0]).iterator());
        weather.run(0);
        System.out.println("longest: " + weather.record);
        System.out.println("mean: " + (weather.n == 0 ? 0 : weather.sum / weather.n));
    }
}
